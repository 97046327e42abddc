// Snapshots in a shipped log: the rows of a shard as files, from which the log leads on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/disk.h"
#include "base/hash.h"
#include "base/result.h"
#include "base/step.h"
#include "cloud/object_store.h"
#include "index/shard.h"
#include "router/log_shipper.h"
#include "router/shipped_log.h"

namespace kin::router {

struct SnapshotFile {
  std::string path = {};  // in the folder of the shard
  std::uint64_t size = 0;
  Hash128 hash = {};         // content_hash()
  std::string object = {};  // its name below the shard's prefix; snapshots share files
  friend bool operator==(const SnapshotFile&, const SnapshotFile&) = default;
};

struct LogSnapshot {
  std::string index = {};
  Hash128 identity = {};
  std::string settings = {};    // of the index, as the node keeps them
  std::string owner = {};       // name of the node
  LogPosition from = {};        // objects after it are applied to the files
  LogPosition consistent = {};  // only from this object on the state is one that the shard had
  WallTime time = {};           // of `consistent`
  std::vector<SnapshotFile> files = {};
  std::uint64_t bytes() const;
  friend bool operator==(const LogSnapshot&, const LogSnapshot&) = default;
};

// The bytes of docs/formats.md, "A shipped log: snapshots".
std::string encode(const LogSnapshot& snapshot);
// kDataLoss for bytes that no encoder wrote, kFailedPrecondition for an unknown version.
Result<LogSnapshot> decode_log_snapshot(std::string_view bytes);

// Hash of the hashes of its pieces of 1 MiB.
Result<Hash128> content_hash(const DiskFile& file);

// The snapshots of a shard, oldest first. Manifests that cannot be read are left out, and those of
// states that were given up (LogChain).
Result<std::vector<LogSnapshot>> list_snapshots(cloud::ObjectStore& objects);
// Whether there is one of a later state than that after `position`.
Result<bool> snapshot_leads_on(cloud::ObjectStore& objects, const LogPosition& position);

struct SnapshotOptions {
  std::string index = {};
  Hash128 identity = {};
  std::string settings = {};
  std::string owner = {};
  std::filesystem::path work_folder = {};  // emptied, and holds a checkpoint while one is uploaded
  Disk* disk = nullptr;                    // nullptr: the system's
  Clock* clock = &system_clock();
  // A snapshot is due when the log since the last one has this many bytes and this share of it.
  std::uint64_t least_log_bytes = std::uint64_t{64} << 20;
  double log_share = 0.5;
  // How far back a point in time can be restored. Snapshots older than the newest before that are
  // removed, with the log before them.
  std::chrono::milliseconds retention = std::chrono::hours{24};
  std::chrono::milliseconds retry{2'000};  // after a failure
};

struct SnapshotStats {
  LogPosition position = {};  // of the newest snapshot; {0, 0}: there is none
  std::uint64_t bytes = 0;    // of its files
  std::uint64_t sent_bytes = 0;  // since the term began, without files that were there already
  std::uint64_t taken = 0;
  std::uint64_t failures = 0;
};

// Takes snapshots of a shard that is written meanwhile, and removes old ones. One thread only.
class LogSnapshots {
 public:
  // Writes the rows of the shard to an empty folder (ShardHost::copy_rows()).
  using CopyRows = std::function<Status(const std::filesystem::path& folder)>;
  // `objects` and `shipper` must outlive it.
  LogSnapshots(cloud::ObjectStore& objects, LogShipper& shipper, CopyRows copy,
               SnapshotOptions options);

  // Does a piece of work: a checkpoint, the upload of one file, a manifest, a clean-up. Errors are
  // tried again later. `force` begins a snapshot though none is due.
  Result<StepOutcome> step(bool force = false);
  SnapshotStats stats() const { return stats_; }

 private:
  enum class Phase : std::uint8_t { kIdle, kUploading, kWaiting, kCleaning };
  Result<bool> is_due();
  Status begin();
  Status find_files();
  Status upload_one();
  Status publish();
  Status clean();
  Result<StepOutcome> advance(bool force);

  cloud::ObjectStore& objects_;
  LogShipper& shipper_;
  const CopyRows copy_;
  const SnapshotOptions options_;
  Disk& disk_;
  Phase phase_ = Phase::kIdle;
  std::optional<LogSnapshot> newest_;  // once it was looked for
  bool looked_ = false;
  LogSnapshot making_;
  std::uint64_t batches_ = 0;        // all that the checkpoint may contain
  std::size_t uploaded_ = 0;         // files of making_
  std::uint64_t bytes_then_ = 0;     // of the term's log when the newest snapshot was begun
  std::uint64_t bytes_making_ = 0;   // when making_ was begun
  std::optional<SteadyTime> not_before_;
  SnapshotStats stats_;
};

struct RestoreOptions {
  std::optional<WallTime> at = {};  // the state at this time; nothing: the newest
  index::TruthOptions files = {};   // engine, disk and clock of the stores
  std::function<void(double)> progress = {};  // a share from 0 to 1
};

struct RestoredShard {
  LogSnapshot snapshot = {};  // that was used
  LogPosition position = {};  // of the last object that was applied
  WallTime time = {};         // of the last batch that was applied, or of the snapshot
  bool whole = true;          // false: a part of an object was applied, because of `at`
};

// Makes the rows of a shard in `folder`, which is missing or empty: the newest snapshot that fits, and
// the log after it. The shard can be opened as a copy that goes on after `position`, or as an owner.
// kNotFound if there is no snapshot that fits. After an error the folder must be removed.
Result<RestoredShard> restore_shard(cloud::ObjectStore& objects,
                                    const std::filesystem::path& folder,
                                    const RestoreOptions& options);

// Copies the newest snapshot of a shard and the log after it to other objects: a backup, from which
// restore_shard() restores any time between the two. Files that are there already are not copied.
struct BackupReport {
  LogPosition snapshot = {};
  LogPosition last = {};
  WallTime from = {};  // the first time that can be restored
  WallTime until = {};
  std::uint64_t bytes = 0;  // copied now
};
Result<BackupReport> back_up_shard(cloud::ObjectStore& from, cloud::ObjectStore& to);

}  // namespace kin::router
