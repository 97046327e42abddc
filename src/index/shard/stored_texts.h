// The texts of one shard, as a batch is screened against them.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <vector>

#include "base/result.h"
#include "index/screening.h"
#include "index/shard/near_duplicates.h"
#include "index/truth/view.h"

namespace kin::index {

// A document that may be near, and how many bands it shares.
struct NearCandidate {
  DocNumber number{};
  std::uint32_t shared = 0;
};
// In the order of candidates().
std::vector<NearCandidate> find_candidates(const NearDuplicates& near, const TextSketch& sketch);
// The candidates that are as similar as the threshold, in their order. Those of other partitions
// than the given ones are left out. Thread-safe.
Result<std::vector<NearText>> compare_candidates(
    const TextSketcher& sketcher, const TruthView& view, const TextSketch& sketch,
    std::span<const NearCandidate> candidates, const std::optional<std::set<PartitionId>>& within);

// One thread only; the arguments of the constructor must outlive it.
class ShardTexts final : public StoredTexts {
 public:
  // `owners` are those of the view.
  ShardTexts(const NearDuplicates& near, const TruthView& view, const Owners& owners,
             std::optional<std::uint64_t> map_epoch)
      : near_(near), view_(view), owners_(owners), map_epoch_(map_epoch) {}

  Result<std::vector<std::optional<PartitionId>>> partitions(
      std::span<const DocId> ids) const override;
  bool takes(PartitionId partition) const override;
  Result<std::vector<std::vector<NearText>>> near(
      std::span<const TextSketch> sketches) const override;

 private:
  const NearDuplicates& near_;
  const TruthView& view_;
  const Owners& owners_;
  std::optional<std::uint64_t> map_epoch_;
};

}  // namespace kin::index
