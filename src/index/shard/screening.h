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

// What is to be written instead of a batch.
struct ScreenedBatch {
  static constexpr std::size_t kAdded = std::numeric_limits<std::size_t>::max();
  std::vector<Mutation> mutations = {};
  std::vector<std::size_t> origins = {};  // of each, in the batch that was given; kAdded: none
  std::vector<Repeat> repeats = {};
};

// Screens one batch. An entity is compared with those that are there and those before it in the
// batch; never with what it replaces. Of one that is refused the edges and fragments in the batch
// are left out as well, unless it is also put in a way that is not. One thread only; what it is
// given must outlive it.
class Screening {
 public:
  Screening(const NearDuplicateOptions& options, const NearDuplicates& near, const TruthView& view)
      : options_(options), near_(near), view_(view) {}

  Result<ScreenedBatch> run(std::span<const Mutation> mutations);

 private:
  struct Match {
    DocId id = {};
    double similarity = 0;
  };
  struct Verdict {
    bool screened = false;  // by its version it will be written
    bool replaces = false;  // something that may have been linked
    std::optional<Match> match = {};
  };

  Status read_versions(std::span<const Mutation> mutations);
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
  std::map<DocId, Version> versions_;  // as of where in the batch it is
  std::set<DocId> superseded_;         // what is stored of them is not there any more
  std::map<DocId, TextSketch> put_;    // in the batch, and not refused
  std::unordered_map<std::uint64_t, std::vector<DocId>> bands_;  // of those
  std::set<DocId> refused_;
};

}  // namespace kin::index
