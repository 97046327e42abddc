#include "index/shard/stored_texts.h"

#include "index/truth/owners.h"
#include "sketch/jaccard.h"

namespace kin::index {

std::vector<NearCandidate> find_candidates(const NearDuplicates& near, const TextSketch& sketch) {
  std::vector<NearCandidate> found;
  for (const std::uint32_t number : near.candidates(sketch.keys)) {
    NearCandidate& candidate = found.emplace_back(NearCandidate{.number = DocNumber{number}});
    const auto keys = near.keys(number);
    for (std::size_t band = 0; band < keys.size(); ++band)
      candidate.shared += keys[band] == sketch.keys[band] ? 1 : 0;
  }
  return found;
}

Result<std::vector<NearText>> compare_candidates(
    const TextSketcher& sketcher, const TruthView& view, const TextSketch& sketch,
    std::span<const NearCandidate> candidates,
    const std::optional<std::set<PartitionId>>& within) {
  std::vector<NearText> found;
  if (candidates.empty()) return found;
  std::vector<DocNumber> numbers;
  for (const NearCandidate& candidate : candidates) numbers.push_back(candidate.number);
  KIN_TRY(const auto documents, view.documents(numbers, {.vectors = false, .summaries = false}));
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const auto* stored = documents[i] ? std::get_if<StoredEntity>(&*documents[i]) : nullptr;
    if (stored == nullptr || (within && !within->contains(stored->head.partition))) continue;
    const double similarity =
        sketch::exact_jaccard(sketch.shingles, sketcher.sketch(stored->entity).shingles);
    if (similarity < sketcher.threshold()) continue;
    found.push_back({.id = stored->entity.id,
                     .similarity = similarity,
                     .shared = candidates[i].shared,
                     .age = stored->head.version.lsn});
  }
  return found;
}

Result<std::vector<std::optional<PartitionId>>> ShardTexts::partitions(
    std::span<const DocId> ids) const {
  KIN_TRY(const auto heads, view_.heads(ids));
  std::vector<std::optional<PartitionId>> found(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (heads[i]) found[i] = heads[i]->partition;
  }
  return found;
}

bool ShardTexts::takes(PartitionId partition) const {
  return owners_.empty() || !refusal(find_owner(owners_, partition), map_epoch_);
}

Result<std::vector<std::vector<NearText>>> ShardTexts::near(
    std::span<const TextSketch> sketches) const {
  std::vector<std::vector<NearText>> found;
  for (const TextSketch& sketch : sketches) {
    KIN_TRY(auto texts, compare_candidates(near_.sketcher(), view_, sketch,
                                           find_candidates(near_, sketch), std::nullopt));
    found.push_back(std::move(texts));
  }
  return found;
}

}  // namespace kin::index
