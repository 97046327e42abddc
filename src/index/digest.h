// Digests of partitions: two copies are equal if theirs are.
//
//   KIN_TRY(auto digest, KeptDigest::compute(shard->view(), partition));  // reads the partition
//   ...                                                                   // while it is written to
//   KIN_RETURN_IF_ERROR(digest.advance(shard->view()));                   // reads what changed
#pragma once

#include <array>
#include <memory>

#include "base/hash.h"
#include "base/result.h"
#include "index/bucket.h"
#include "index/view.h"

namespace kin::index {

// One digest per bucket, over ids, versions and contents, tombstones included: the sum of the
// hashes of the records.
using PartitionDigest = std::array<Hash128, kBuckets>;

// Reads the partition as export_partition() does. Thread-safe.
Result<PartitionDigest> digest_partition(const TruthView& view, PartitionId partition);

// The digest of a partition in one view, which can be brought to a later view of the shard. What
// Truth::forget() and Truth::purge_deletions() remove is not in the log: drop the digest then. The
// shard keeps overwritten data for it, so drop it soon. Thread-compatible.
class KeptDigest {
 public:
  // Reads the partition, as DigestReading does.
  static Result<KeptDigest> compute(const ShardView& view, PartitionId partition);

  // Reads the changes since, of all partitions, and takes the entities that they belong to out of
  // the sum, as they were, and adds them as they are. kFailedPrecondition if the log is trimmed
  // beyond the view before: compute it again.
  Status advance(const ShardView& view);

  const PartitionDigest& digest() const { return digest_; }
  Lsn lsn() const { return view_.lsn(); }

 private:
  friend class DigestReading;
  KeptDigest(const ShardView& view, PartitionId partition, const PartitionDigest& digest)
      : view_(view), partition_(partition), digest_(digest) {}

  ShardView view_;
  PartitionId partition_;
  PartitionDigest digest_;
};

// Reads a partition for its digest, piece by piece, in one view. One thread at a time.
class DigestReading {
 public:
  DigestReading(const ShardView& view, PartitionId partition);
  ~DigestReading();
  DigestReading(DigestReading&&) noexcept;
  DigestReading& operator=(DigestReading&&) noexcept;

  // Reads some thousand rows more. False at the end. After an error: begin again.
  Result<bool> step();
  // After the last step.
  KeptDigest digest() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kin::index
