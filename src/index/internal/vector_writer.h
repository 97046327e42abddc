// The changes of a vector index.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "index/internal/vector_core.h"
#include "index/internal/vector_format.h"

namespace kin::index::internal {

// The next snapshot in the making.
struct Draft {
  Matrix centres;
  std::vector<std::shared_ptr<Posting>> postings;
  PendingView pending;
  RecallCurve curve;
  std::vector<bool> touched;  // postings whose vectors have new places

  // Puts `posting` in the place of another, or behind all.
  void put(std::uint32_t partition, std::shared_ptr<Posting> posting);
};

class RecallMeter;

// One thread at a time.
class VectorWriter {
 public:
  explicit VectorWriter(VectorCore& core);

  Status insert(std::uint32_t id, std::span<const float> vector);
  bool remove(std::uint32_t id);
  Result<bool> step();
  VectorStats stats() const;

  VectorCheckpoint checkpoint(std::uint64_t lsn, VectorIndex::Scope scope);
  // Takes over what a checkpoint holds; before anything else.
  Status adopt(const VectorCheckpointHead& head, Draft draft);
  std::uint64_t applied_lsn() const { return applied_lsn_; }

 private:
  struct PendingRow {
    std::shared_ptr<PendingChunk> chunk;
    std::uint32_t row;
  };
  // Where a vector is read from while everything is laid out anew.
  struct Source {
    const Posting* posting;  // nothing: pending
    const PendingChunk* chunk;
    std::uint32_t at;
    std::uint32_t id() const { return posting != nullptr ? posting->ids()[at] : chunk->id(at); }
  };

  Status append(std::uint32_t id, std::span<const float> rotated);
  void forget(std::uint32_t id, Place place);

  Draft draft() const;
  void publish(Draft draft);
  Result<std::vector<Item>> items_of(const Posting& posting) const;
  // Adds each item to the partition that `owners` names.
  void assign(Draft& next, const std::vector<Item>& items, std::span<const std::uint32_t> owners);
  void assign_nearest(Draft& next, const std::vector<Item>& items);
  std::shared_ptr<Posting> extended(const Posting& old, const Centres& centres,
                                    std::uint32_t partition, std::span<const Item* const> more);

  Status start_training();
  Status finish_training();
  std::vector<Source> sources() const;
  Status read(const Source& source, std::vector<float>& out) const;
  Result<std::vector<std::vector<std::uint32_t>>> members_of(const Centres& centres,
                                                             const std::vector<Source>& all,
                                                             RecallMeter& meter) const;
  Result<std::shared_ptr<Posting>> encoded(const std::vector<Source>& all,
                                           std::span<const std::uint32_t> members,
                                           std::span<const float> centre) const;
  static void cut_large(std::vector<std::vector<std::uint32_t>>& members, Matrix& centres);
  // Begins the log anew; returns the ids of its dead rows.
  std::vector<std::uint32_t> restart_log(Draft& next);
  void forget_purged(std::span<const std::uint32_t> ids);
  Status build_pending();
  Result<bool> tidy();
  Status split(std::uint32_t partition);
  Status merge(std::uint32_t partition);
  void reclaim(std::uint32_t partition);

  VectorCore& core_;
  std::shared_ptr<PendingChunk> tail_;
  std::unordered_map<std::uint32_t, PendingRow> pending_;  // live rows
  std::uint64_t pending_rows_ = 0;                         // live and dead
  std::uint64_t live_ = 0;
  std::uint64_t trained_ = 0;  // vectors there were when it was trained
  std::optional<KMeans> training_;
  std::uint64_t applied_lsn_ = 0;
  std::vector<std::uint64_t> sums_;  // of the partitions as last written
  std::vector<bool> dirty_;          // partitions to write at the next checkpoint
};

}  // namespace kin::index::internal
