// The vectors of one embedding space, found by nearness.
//
// k-means partitions; the vectors of a partition as RaBitQ codes in a posting; a search scans the
// postings of the nearest centroids by one bit a dimension, looks closer at what the error bound
// leaves, and, where vectors are at hand, settles what is still undecided by them. New vectors wait
// in a log that every search reads, until step() gives them a partition.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "index/vector/filter.h"
#include "index/vector/places.h"
#include "index/vector/space.h"

namespace kin::index {

// Lends the vectors of a space whose storage is kElsewhere.
class RawVectors {
 public:
  virtual ~RawVectors() = default;
  // The vector last inserted under `id`, as it was given; false if there is none. Thread-safe.
  virtual Result<bool> read(std::uint32_t id, std::span<float> out) const = 0;
};

struct VectorIndexOptions {
  VectorSpace space;
  const RawVectors* raw =
      nullptr;  // needed if the space's storage is kElsewhere; outlives the index
  std::uint32_t partition_size = 200;  // vectors of a partition that are aimed at; at most 1,000
};

struct VectorHit {
  std::uint32_t id = 0;
  float distance = 0;  // see Distance; an estimate if the vector was not looked at
  friend bool operator==(const VectorHit&, const VectorHit&) = default;
};

struct VectorSearch {
  enum class Rerank : std::uint8_t {
    kWhereResident,  // by vectors, if they are in memory
    kNever,
    kAlways,  // read them from RawVectors if need be
  };
  std::uint32_t k = 10;
  // The share of true neighbours to aim at, by what was measured on the index's own vectors.
  double recall = 0.97;
  std::optional<std::uint32_t> probes = {};  // instead: so many partitions
  Rerank rerank = Rerank::kWhereResident;
  const IdFilter* filter = nullptr;  // only these ids
  bool exact = false;                // compare with every vector
  // As of a moment before the index learnt some ids, and after it should have forgotten others.
  std::uint64_t below = std::uint64_t{1} << 32;  // only ids below
  std::span<const std::uint32_t> without = {};   // none of these; in order
  const RawVectors* raw = nullptr;               // instead of the index's own
};

struct VectorStats {
  std::uint64_t vectors = 0;  // that searches find
  std::uint64_t pending = 0;  // of them, without a partition
  std::uint64_t deleted = 0;  // not yet reclaimed
  std::uint32_t partitions = 0;
  std::size_t bytes = 0;  // resident
};

// What to write so that restore() finds the index as it was: the head, and those partitions that
// changed since the last checkpoint. Partitions of numbers not below `partitions` are gone.
struct VectorCheckpoint {
  std::string head;
  std::uint32_t partitions = 0;
  std::vector<std::pair<std::uint32_t, std::string>> changed;
};

// What an index should hold.
struct VectorsExpected {
  std::span<const std::uint32_t> ids = {};  // in order
  const RawVectors& vectors;
  std::uint64_t below = std::uint64_t{1} << 32;  // others have no say
  std::span<const std::uint32_t> without = {};   // nor have these; in order
};

// Thread-safe: searches run on a snapshot and wait for no change; inserts and removals wait for
// each other but not for step() or checkpoint(), which wait for each other.
class VectorIndex {
 public:
  static Result<std::unique_ptr<VectorIndex>> create(const VectorIndexOptions& options);
  // From a checkpoint; `partition` reads one of its partitions. An error if the checkpoint is
  // damaged or of another space.
  static Result<std::unique_ptr<VectorIndex>> restore(
      const VectorIndexOptions& options, std::string_view head,
      const std::function<Result<std::string>(std::uint32_t number)>& partition);
  ~VectorIndex();

  // Inserts, or replaces the vector of `id`. Searches that begin later find it.
  Status insert(std::uint32_t id, std::span<const float> vector);
  // True if there was a vector; searches that begin later do not find it.
  bool remove(std::uint32_t id);
  VectorState state(std::uint32_t id) const;

  // Nearest first; of equal distances the lower id. Fewer than k if there are no more.
  Result<std::vector<VectorHit>> search(std::span<const float> query,
                                        const VectorSearch& how = {}) const;

  // Does one piece of what is due: a round of training, a batch of pending vectors into their
  // partitions, a partition split, merged or freed of deleted vectors. False if nothing is due.
  // While many vectors come it may wait a moment for more, since a batch costs what the index
  // holds. With storage elsewhere an error of RawVectors is returned, and the step may be tried
  // again.
  Result<bool> step();

  // Calls `fault` with every difference between what is there and what should be, in plain words.
  Status verify(const VectorsExpected& expected,
                const std::function<void(std::string)>& fault) const;

  VectorStats stats() const;
  const VectorSpace& space() const;

  // Records that all changes up to `lsn` are in; some of those that are made meanwhile may be too.
  // kAll: every partition, for the first checkpoint at a new place and after one that could not be
  // written.
  enum class Scope : std::uint8_t { kChanged, kAll };
  VectorCheckpoint checkpoint(std::uint64_t lsn, Scope scope = Scope::kChanged);
  // That of the last checkpoint taken or restored.
  std::uint64_t applied_lsn() const;

 private:
  class State;
  explicit VectorIndex(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace kin::index
