// Near-duplicates on their way into an index: linked, or refused.
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
#include "index/mutation.h"
#include "index/shard.h"
#include "index/text_sketch.h"

namespace kin::index {

// The batch to write instead of the given one.
struct ScreenedBatch {
  static constexpr std::size_t kAdded = std::numeric_limits<std::size_t>::max();
  std::vector<Mutation> mutations = {};
  std::vector<std::size_t> origins = {};  // index of each in the given batch; kAdded: none
  std::vector<Repeat> repeats = {};
};
// The outcomes of the `count` mutations that were given, from those of the screened batch.
// Mutations that were left out are duplicates. An Outcome may be an optional one.
template <typename Outcome>
std::vector<Outcome> outcomes_of_given(const ScreenedBatch& batch, std::size_t count,
                                       std::span<const Outcome> outcomes) {
  std::vector<Outcome> given(count, Outcome(index::Outcome{.effect = Effect::kDuplicate}));
  for (std::size_t i = 0; i < batch.origins.size(); ++i) {
    if (batch.origins[i] != ScreenedBatch::kAdded) given[batch.origins[i]] = outcomes[i];
  }
  return given;
}

// The texts of an index, on one shard or many. One thread only.
class StoredTexts {
 public:
  virtual ~StoredTexts() = default;
  // The partitions of entities, in the order of `ids`; nothing for one that was never stored.
  virtual Result<std::vector<std::optional<PartitionId>>> partitions(
      std::span<const DocId> ids) const = 0;
  // False if entities of the partition will be refused.
  virtual bool takes(PartitionId partition) const = 0;
  // For each sketch the texts that are as similar as the threshold at least; of texts of the same
  // similarity the one to prefer comes first.
  virtual Result<std::vector<std::vector<NearText>>> near(
      std::span<const TextSketch> sketches) const = 0;
};

// Screens one batch. An entity is compared with the stored ones and with those before it in the
// batch, but not with the state it replaces. If it is refused, its edges and fragments in the batch
// are left out too, unless the batch also puts it with a text that is accepted. One thread only;
// the arguments of the constructor must outlive it.
class Screening {
 public:
  Screening(const NearDuplicateOptions& options, const TextSketcher& sketcher,
            const StoredTexts& texts)
      : options_(options), sketcher_(sketcher), texts_(texts) {}

  Result<ScreenedBatch> run(std::span<const Mutation> mutations);

 private:
  struct Match {
    DocId id = {};
    double similarity = 0;
  };
  struct Verdict {
    bool screened = true;   // false: the entity will be refused
    bool replaces = false;  // an entity that may have a link
    std::optional<Match> match = {};
  };

  Status read_stored(std::span<const Mutation> mutations);
  Verdict judge(const PutEntity& put, std::size_t place);
  void match_stored(const DocId& id, std::span<const NearText> near,
                    std::optional<Match>& best) const;
  void match_batch(const DocId& id, const TextSketch& sketch, std::optional<Match>& best) const;
  void consider(const DocId& id, double similarity, std::optional<Match>& best) const;
  void remember(const DocId& id, TextSketch sketch);
  bool is_left_out(const Mutation& mutation) const;
  void add_link(const PutEntity& put, const Verdict& verdict, ScreenedBatch& batch) const;

  const NearDuplicateOptions& options_;
  const TextSketcher& sketcher_;
  const StoredTexts& texts_;
  std::vector<TextSketch> sketches_;         // of the entities that are put, in their order
  std::vector<std::vector<NearText>> near_;  // the stored texts near to each
  std::map<DocId, PartitionId> stored_;      // put by the batch or before it
  std::set<DocId> superseded_;               // entities whose stored text is no longer current
  std::map<DocId, TextSketch> put_;          // put by the batch and not refused
  std::unordered_map<std::uint64_t, std::vector<DocId>> bands_;  // of put_
  std::set<DocId> refused_;
};

}  // namespace kin::index
