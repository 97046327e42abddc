#include "index/view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "index/shard/space.h"

namespace kin::index {
namespace {

SpaceOptions options_of(const SpaceView& space) {
  return {.name = space.name,
          .space = space.index->space(),
          .origin = space.origin,
          .source = space.source,
          .generation = space.generation};
}

}  // namespace

bool ShardView::is_within(const std::set<PartitionId>& partitions) const {
  return state_->partitions && std::ranges::includes(partitions, *state_->partitions);
}

std::optional<std::vector<std::shared_ptr<const DocSet>>> ShardView::known_outside(
    const std::set<PartitionId>& partitions) const {
  if (!state_->partitions) return {};
  std::vector<std::shared_ptr<const DocSet>> outside;
  for (const PartitionId partition : *state_->partitions) {
    if (partitions.contains(partition)) continue;
    if (!state_->apart) return {};
    const auto known = state_->apart->find(partition);
    if (known == state_->apart->end()) return {};
    outside.push_back(known->second.numbers);
  }
  return outside;
}

TextSections ShardView::sections_outside(
    const std::optional<std::set<PartitionId>>& partitions) const {
  TextSections sections;
  if (!partitions || !state_->apart) return sections;
  for (const auto& [partition, apart] : *state_->apart) {
    if (apart.section != kNoSection && !partitions->contains(partition)) sections.insert(apart.section);
  }
  return sections;
}

Result<const SpaceView*> ShardView::space(std::string_view name) const {
  std::vector<std::string> names;
  for (const SpaceView& space : spaces()) {
    if (name.empty() || space.name == name) return &space;
    names.push_back(space.name);
  }
  if (names.empty()) return Error{Code::kNotFound, "the index has no embedding space"};
  return Error{Code::kNotFound, fmt::format("there is no embedding space {} (there is {})", name,
                                            fmt::join(names, ", "))};
}

Result<std::vector<VectorHit>> ShardView::nearest(const SpaceView& space,
                                                  std::span<const float> query,
                                                  VectorSearch how) const {
  // The index is newer than the view: these hide the vectors that the view does not have.
  how.below = space.below;
  how.without = *space.retired;
  const TruthVectors raw(options_of(space), &truth());
  if (how.raw == nullptr) how.raw = &raw;
  return space.index->search(query, how);
}

Result<std::optional<std::vector<float>>> ShardView::vector(const SpaceView& space,
                                                            DocNumber number) const {
  std::vector<float> values(space.index->space().dimension);
  const TruthVectors raw(options_of(space), &truth());
  KIN_TRY(const bool found, raw.read(static_cast<std::uint32_t>(number), values));
  if (!found) return std::optional<std::vector<float>>();
  return std::optional(std::move(values));
}

}  // namespace kin::index
