// Near-duplicates on their way into a shard: linked, or refused.
#pragma once

#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "index/shard.h"
#include "index/shard/near_duplicates.h"
#include "index/truth/view.h"

namespace kin::index {

// The batch to write instead of the given one.
struct ScreenedBatch {
  static constexpr std::size_t kAdded = std::numeric_limits<std::size_t>::max();
  std::vector<Mutation> mutations = {};
  std::vector<std::size_t> origins = {};  // index of each in the given batch; kAdded: none
  std::vector<Repeat> repeats = {};
};

// Screens one batch. An entity is compared with the stored ones and with those before it in the
// batch, but not with the state it replaces. If it is refused, its edges and fragments in the batch
// are left out too, unless the batch also puts it with a text that is accepted. One thread only;
// the arguments of the constructor must outlive it.
class Screening {
 public:
  Screening(const NearDuplicateOptions& options, const NearDuplicates& near, const TruthView& view,
            std::optional<std::uint64_t> map_epoch)
      : options_(options), near_(near), view_(view), map_epoch_(map_epoch) {}

  Result<ScreenedBatch> run(std::span<const Mutation> mutations);

 private:
  struct Match {
    DocId id = {};
    double similarity = 0;
  };
  struct Verdict {
    bool screened = true;   // false: the shard does not own its partition
    bool replaces = false;  // an entity that may have a link
    std::optional<Match> match = {};
  };

  Status read_stored(std::span<const Mutation> mutations);
  Result<Verdict> judge(const PutEntity& put);
  Status match_stored(const DocId& id, const TextSketch& sketch, std::optional<Match>& best);
  void match_batch(const DocId& id, const TextSketch& sketch, std::optional<Match>& best) const;
  void consider(const DocId& id, double similarity, std::optional<Match>& best) const;
  void remember(const DocId& id, TextSketch sketch);
  bool is_left_out(const Mutation& mutation) const;
  void add_link(const PutEntity& put, const Verdict& verdict, ScreenedBatch& batch) const;

  const NearDuplicateOptions& options_;
  const NearDuplicates& near_;
  const TruthView& view_;
  std::optional<std::uint64_t> map_epoch_;
  Owners owners_;
  std::map<DocId, PartitionId> stored_;  // put by the batch or before it
  std::set<DocId> superseded_;           // entities whose stored text is no longer current
  std::map<DocId, TextSketch> put_;      // put by the batch and not refused
  std::unordered_map<std::uint64_t, std::vector<DocId>> bands_;  // of put_
  std::set<DocId> refused_;
};

}  // namespace kin::index
