#include "index/truth/record_maker.h"

#include <fmt/format.h>

#include <utility>

#include "index/truth/entity_format.h"
#include "index/truth/entity_keys.h"

namespace kin::index {
namespace {

Error damaged(std::string_view what) {
  return {Code::kDataLoss, fmt::format("a key of {} is damaged", what)};
}

}  // namespace

Status RecordMaker::add(kv::Family family, std::string_view key, std::string_view value) {
  if (family == kEntitiesFamily) return add_entity(key, value);
  if (family == kForwardEdgesFamily) return add_edge(key, value);
  return add_fragment(family, key, value);
}

Status RecordMaker::fill() {
  KIN_TRY(auto entities, view_.get_many(live_ids_));
  for (std::size_t i = 0; i < live_.size(); ++i) {
    if (!entities[i]) return Error{Code::kDataLoss, "the contents of an entity are missing"};
    std::get<EntityRecord>(records_[live_[i]]).entity = std::move(entities[i]->entity);
  }
  live_.clear();
  live_ids_.clear();
  return Done{};
}

Result<std::vector<Record>> RecordMaker::finish() {
  KIN_RETURN_IF_ERROR(fill());
  measured_ = 0;
  bytes_ = 0;
  return std::exchange(records_, {});
}

std::optional<std::size_t> RecordMaker::count_of(std::size_t most) {
  if (most == 0) return std::nullopt;  // a caller of an older version has no limit
  for (; measured_ < records_.size(); ++measured_) {
    bytes_ += size_of(records_[measured_]);
    if (bytes_ >= most) return measured_ + 1;
  }
  return std::nullopt;
}

void RecordMaker::keep_first(std::size_t count) {
  records_.erase(records_.begin() + static_cast<std::ptrdiff_t>(count), records_.end());
}

Status RecordMaker::add_entity(std::string_view key, std::string_view value) {
  KIN_TRY(const HeadRow row, decode_head(value));
  const auto id = decode_entity_key(key);
  if (!id) return damaged("entities");
  // Contents are read later, all at once: finish() puts them into these records.
  if (!row.deleted) {
    live_.push_back(records_.size());
    live_ids_.push_back(*id);
  }
  EntityRecord record{.deleted = row.deleted,
                      .version = row.head.version,
                      .partition = row.head.partition,
                      .assigned = row.head.assigned};
  record.entity.id = *id;
  add(std::move(record));
  return Done{};
}

Status RecordMaker::add_edge(std::string_view bytes, std::string_view value) {
  KIN_TRY(const EdgeRow row, decode_edge(value));
  const auto key = decode_forward_key(bytes);
  if (!key) return damaged("forward_edges");
  KIN_TRY(StoredEdge stored, view_.assemble_edge(*key, row));
  // A tombstone is the id alone, so that equal states have equal bytes.
  if (row.deleted) stored.edge = {.id = std::move(stored.edge.id)};
  add(EdgeRecord{.edge = std::move(stored.edge), .deleted = row.deleted, .version = row.version});
  return Done{};
}

Status RecordMaker::add_fragment(kv::Family family, std::string_view bytes,
                                 std::string_view value) {
  KIN_TRY(FragmentRow row, decode_fragment(value));
  const auto key = decode_fragment_key(family, bytes);
  if (!key) return damaged("fragments");
  FragmentRecord record{.id = key->id,
                        .to = key->to,
                        .fragment = {.time = key->time, .text = std::move(row.text)},
                        .content = key->content,
                        .deleted = row.deleted,
                        .version = row.version};
  if (family == kEdgeFragmentsFamily) {
    KIN_TRY(record.name, view_.name(key->name));
  }
  add(std::move(record));
  return Done{};
}

}  // namespace kin::index
