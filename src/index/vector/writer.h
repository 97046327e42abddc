// Inserts, removals and background work of a vector index.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/step.h"
#include "index/vector/core.h"
#include "index/vector/format.h"

namespace kin::index::internal {

// The next snapshot while it is built.
struct Draft {
  Matrix centres;
  std::vector<std::shared_ptr<Posting>> postings;
  PendingView pending;
  RecallCurve curve;
  std::vector<bool> touched;  // postings whose vectors have new places

  // Rows of the log when the draft was begun, and rows that are now in its postings.
  std::uint64_t rows = 0;
  std::uint64_t taken_rows = 0;
  std::vector<std::uint32_t> taken = {};   // ids of live rows
  std::vector<std::uint32_t> purged = {};  // ids of dead rows

  // Replaces posting `cell`, or appends one.
  void put(std::uint32_t cell, std::shared_ptr<Posting> posting);
};

class RecallMeter;

// Thread-safe, except that only one of step(), checkpoint() and adopt() runs at a time. A step
// works on a snapshot without the lock. Vectors removed or replaced meanwhile are marked as deleted
// when the step publishes its draft; inserted ones stay in the log.
class VectorWriter {
 public:
  explicit VectorWriter(VectorCore& core);

  Status insert(std::uint32_t id, std::span<const float> vector);
  bool remove(std::uint32_t id);
  // See VectorIndex::step().
  Result<StepOutcome> step(SteadyTime now);
  VectorStats stats() const;
  // Call while no step runs.
  Status verify(const VectorsExpected& expected,
                const std::function<void(std::string)>& fault) const;

  VectorCheckpoint checkpoint(std::uint64_t lsn, VectorIndex::Scope scope);
  // Takes over the contents of a checkpoint. Call it before anything else.
  Status adopt(const VectorCheckpointHead& head, Draft draft);
  std::uint64_t applied_lsn() const {
    const std::lock_guard lock(changes_);
    return applied_lsn_;
  }

 private:
  struct PendingRow {
    std::shared_ptr<PendingChunk> chunk;
    std::uint32_t row;
  };
  // Where training reads a vector from.
  struct Source {
    const Posting* posting;  // null: pending
    const PendingChunk* chunk;
    std::uint32_t at;
    std::uint32_t id() const { return posting != nullptr ? posting->ids()[at] : chunk->id(at); }
  };

  void append(std::uint32_t id, std::span<const float> rotated);
  void forget(CellSlot slot);

  Draft begin_draft();
  // Moves the next rows of the log, up to `most`, to the draft's `taken` and `purged`.
  using SeeRow = std::function<void(const PendingChunk& chunk, std::uint32_t row)>;
  static void take_rows(Draft& next, std::uint64_t most, const SeeRow& see);
  void publish(Draft draft);
  void place_new(const Draft& next);
  void leave_log(const Draft& next);
  Result<std::vector<Item>> items_of(const Posting& posting) const;
  // Adds each item to the cell that `owners` names.
  void assign(Draft& next, const std::vector<Item>& items,
              std::span<const std::uint32_t> owners) const;
  void assign_nearest(Draft& next, const std::vector<Item>& items) const;
  std::shared_ptr<Posting> empty_posting() const;
  std::shared_ptr<Posting> extended(const Posting& old, std::span<const float> centre,
                                    std::span<const Item* const> more) const;

  Status start_training();
  Status finish_training();
  std::vector<Source> sources(Draft& next) const;
  Status read(const Source& source, std::vector<float>& out) const;
  Result<std::vector<std::vector<std::uint32_t>>> members_of(const Centres& centres,
                                                             const std::vector<Source>& all,
                                                             RecallMeter& meter) const;
  Result<std::shared_ptr<Posting>> encoded(const std::vector<Source>& all,
                                           std::span<const std::uint32_t> members,
                                           std::span<const float> centre) const;
  static void cut_large(std::vector<std::vector<std::uint32_t>>& members, Matrix& centres);
  Status build_pending(std::uint64_t live);
  Result<bool> tidy();
  Status split(std::uint32_t cell);
  struct Halves {
    std::uint32_t first;
    std::uint32_t second;
  };
  static std::vector<std::uint32_t> owners_after_split(const Draft& next,
                                                       const std::vector<Item>& items,
                                                       Halves halves);
  Status merge(std::uint32_t cell);
  void reclaim(std::uint32_t cell);

  VectorCore& core_;
  std::uint64_t trained_ = 0;  // vectors there were when it was trained
  std::optional<KMeans> training_;
  std::uint64_t seen_inserts_ = 0;   // by the last step
  SteadyTime grew_at_{};             // the first step that saw so many
  std::vector<std::uint64_t> sums_;  // of the cells as last written

  mutable std::mutex changes_;  // guards what follows, the marks of postings, and the slots
  std::shared_ptr<PendingChunk> tail_;
  std::unordered_map<std::uint32_t, PendingRow> pending_;  // live rows
  std::uint64_t pending_rows_ = 0;                         // live and dead
  std::uint64_t inserts_ = 0;                              // so far
  std::uint64_t live_ = 0;
  std::unordered_set<std::uint32_t> disturbed_;  // removed or replaced since the draft was begun
  std::uint64_t applied_lsn_ = 0;
  std::vector<bool> dirty_;  // cells to write at the next checkpoint
};

}  // namespace kin::index::internal
