// The vectors of one embedding space, found by nearness.
//
// k-means cuts the space into cells. The vectors of a cell are RaBitQ codes in a posting. A search
// scans the postings of the nearest centroids by one bit per dimension, estimates distances for the
// codes that the error bound does not exclude, and compares the vectors themselves where they are
// in memory. New vectors wait in a log that every search reads, until step() gives them a cell.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/step.h"
#include "index/vector/filter.h"
#include "index/vector/slots.h"
#include "index/vector/space.h"

namespace kin::index {

// Reads the vectors of a space whose storage is kElsewhere.
class RawVectors {
 public:
  virtual ~RawVectors() = default;
  // The vector last inserted under `id`, as it was given; false if there is none. Thread-safe.
  virtual Result<bool> read(std::uint32_t id, std::span<float> out) const = 0;
};

struct VectorIndexOptions {
  VectorSpace space;
  const RawVectors* raw = nullptr;  // needed for storage kElsewhere; outlives the index
  std::uint32_t cell_size = 200;    // target number of vectors in a cell, from 8 to 1,000
};

struct VectorHit {
  std::uint32_t id = 0;
  float distance = 0;  // see Distance; an estimate unless the vector itself was compared
  friend bool operator==(const VectorHit&, const VectorHit&) = default;
};

struct VectorSearch {
  enum class Rerank : std::uint8_t {
    kWhereResident,  // compare vectors that are in memory
    kNever,
    kAlways,  // compare vectors, read from RawVectors if need be
  };
  std::uint32_t k = 10;
  // Target share of the true neighbours, by a curve measured on the index's own vectors.
  double recall = 0.97;
  std::optional<std::uint32_t> probes = {};  // number of cells to scan, instead of `recall`
  Rerank rerank = Rerank::kWhereResident;
  const IdFilter* filter = nullptr;  // only these ids
  bool exact = false;                // compare with every vector
  // For a view older than the index: ids that the view does not have yet, and ids that it no longer
  // has although the index does.
  std::uint64_t below = std::uint64_t{1} << 32;  // only ids below this one
  std::span<const std::uint32_t> without = {};   // ignore these; in order
  const RawVectors* raw = nullptr;               // read instead of the index's own
};

struct VectorStats {
  std::uint64_t vectors = 0;  // live
  std::uint64_t pending = 0;  // live, without a cell
  std::uint64_t deleted = 0;  // dead, not yet reclaimed
  std::uint32_t cells = 0;
  std::size_t bytes = 0;  // resident
};

// The data to write so that restore() restores the index: the head, and the cells that changed
// since the last checkpoint. Stored cells numbered `cells` and above are obsolete.
struct VectorCheckpoint {
  std::string head;
  std::uint32_t cells = 0;
  std::vector<std::pair<std::uint32_t, std::string>> changed;
};

// The vectors that verify() expects in an index.
struct VectorsExpected {
  std::span<const std::uint32_t> ids = {};  // in order
  const RawVectors& vectors;
  std::uint64_t below = std::uint64_t{1} << 32;  // ids from this one on are ignored
  std::span<const std::uint32_t> without = {};   // so are these; in order
};

// Thread-safe. Searches run on a snapshot and never wait. Inserts and removals wait for each other,
// but not for step() and checkpoint(), which wait for each other.
class VectorIndex {
 public:
  static Result<std::unique_ptr<VectorIndex>> create(const VectorIndexOptions& options);
  // From a checkpoint; `read_cell` reads one of its cells. An error if the checkpoint is damaged or
  // of another space.
  static Result<std::unique_ptr<VectorIndex>> restore(
      const VectorIndexOptions& options, std::string_view head,
      const std::function<Result<std::string>(std::uint32_t number)>& read_cell);
  virtual ~VectorIndex() = default;
  VectorIndex(const VectorIndex&) = delete;
  VectorIndex& operator=(const VectorIndex&) = delete;

  // Inserts, or replaces the vector of `id`. Searches that begin later find it.
  virtual Status insert(std::uint32_t id, std::span<const float> vector) = 0;
  // True if there was a vector. Searches that begin later do not find it.
  virtual bool remove(std::uint32_t id) = 0;
  virtual VectorState state(std::uint32_t id) const = 0;

  // Nearest first; ties are broken by the lower id. Fewer than k if there are no more.
  virtual Result<std::vector<VectorHit>> search(std::span<const float> query,
                                                const VectorSearch& how = {}) const = 0;

  // Does one piece of the work that is due: a round of training, moving a batch of pending vectors
  // to their cells, or splitting, merging or reclaiming a cell. While vectors keep coming to a
  // large index the outcome may be `not_before` a moment from `now`: a larger batch costs hardly
  // more. An error of RawVectors is returned; the step can be tried again.
  virtual Result<StepOutcome> step(SteadyTime now) = 0;

  // Calls `fault` for every difference between the index and what is expected.
  virtual Status verify(const VectorsExpected& expected,
                        const std::function<void(std::string)>& fault) const = 0;

  virtual VectorStats stats() const = 0;
  virtual const VectorSpace& space() const = 0;

  // Records that all changes up to `lsn` are in; changes made during the call may be in too. Use
  // kAll for the first checkpoint in a new folder and after one that could not be written.
  enum class Scope : std::uint8_t { kChanged, kAll };
  virtual VectorCheckpoint checkpoint(std::uint64_t lsn, Scope scope = Scope::kChanged) = 0;
  // The LSN of the last checkpoint taken or restored.
  virtual std::uint64_t applied_lsn() const = 0;

 private:
  class State;
  VectorIndex() = default;
};

}  // namespace kin::index
