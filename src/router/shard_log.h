// The shipped log of one shard of a node: its shipper, its snapshots, and its part in terms.
//
//   ShardLog log(objects, options);
//   KIN_TRY(auto host, ShardHost::open(folder, shard_options, identity, log.ties(false)));
//   KIN_RETURN_IF_ERROR(log.own(*host));          // the next term is ours
//   reply = host->serve(request, how);
//   log.shipper().wait(log.shipper().position(), deadline);
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/disk.h"
#include "base/hash.h"
#include "base/result.h"
#include "base/step.h"
#include "cloud/object_store.h"
#include "router/log_shipper.h"
#include "router/log_snapshot.h"
#include "router/log_terms.h"
#include "router/shard_host.h"

namespace kin::router {

// The shards that have a log, by index and identity.
struct LoggedShard {
  std::string index = {};
  Hash128 identity = {};
  friend bool operator==(const LoggedShard&, const LoggedShard&) = default;
};
Result<std::vector<LoggedShard>> list_logged_shards(cloud::ObjectStore& all);
// The name of the object by which list_logged_shards() finds a shard.
std::string logged_shard_name(std::string_view index, const Hash128& identity);

// What a shard's folder knows of its log (docs/formats.md, "A node: the part in a log"). Tells whether
// the rows in the folder are still those of the log's owner.
struct LogRole {
  std::uint64_t term = 0;  // that the folder owns; 0: none yet
  Hash128 writer = {};     // of that term
  // A term that was asked for: written before the seal that gives it.
  std::uint64_t next_term = 0;
  Hash128 next_writer = {};
  // The shard was closed when all of its batches were in the log, up to this object.
  std::optional<LogPosition> clean = {};
  // The rows were restored as of a time: the next term takes the place of the log after it.
  bool restored = false;
  friend bool operator==(const LogRole&, const LogRole&) = default;
};
std::string encode(const LogRole& role);
Result<LogRole> decode_log_role(std::string_view bytes);
// Nothing if the folder has no part in a log.
Result<std::optional<LogRole>> read_role(Disk& disk, const std::filesystem::path& folder);
Status write_role(Disk& disk, const std::filesystem::path& folder, const LogRole& role);

struct ShardLogOptions {
  std::string index = {};
  std::string settings = {};
  std::string owner = {};           // name of the node
  std::filesystem::path folder = {};  // of the shard
  Disk* disk = nullptr;
  Clock* clock = &system_clock();
  std::function<Hash128()> draw = {};  // never the same twice, on any node
  LogShipperOptions shipper = {};      // its clock is the one above
  SnapshotOptions snapshots = {};      // index, settings, identity, folder, disk, clock are filled in
};

// Thread-safe, except for own(), take_over() and close(), which nothing else may run beside.
class ShardLog {
 public:
  // `all` are the objects of all shards. They must outlive it.
  ShardLog(cloud::ObjectStore& all, const Hash128& identity, ShardLogOptions options);

  // Whether the rows in the folder are those of a copy: restored from the log, or following it.
  Result<bool> is_copy() const;
  HostLog ties(bool is_copy);
  // The term that a copy may ask for where no lease decides: above all others.
  Result<std::uint64_t> next_term() const;
  // The next term is the shard's own: of a shard whose rows are those of the last term's owner, or of
  // a new log. kFailedPrecondition if another node has taken over since.
  Status own(ShardHost& host);
  // A copy becomes the owner with this term, which must be above all others: seals the last term,
  // applies its rest, begins the term. The caller has the right to it (a lease). kFailedPrecondition
  // if another node was faster. May be repeated after an error, with the same term.
  Status take_over(ShardHost& host, std::uint64_t term);

  LogShipper& shipper() { return shipper_; }
  cloud::ObjectStore& objects() { return *objects_; }
  // One piece of work of snapshots, on a thread of its own: it may take long.
  Result<StepOutcome> step_snapshots(bool force = false);
  SnapshotStats snapshot_stats() const;

  // Ships what waits, and notes that nothing is missing. The shard is closed already.
  Status close();
  // Removes the log of a shard that was dropped.
  Status remove_all();

 private:
  Status begin(ShardHost& host, std::uint64_t term, const std::optional<LogPosition>& base);
  // Whether the folder's rows are those of the owner of the log's last term.
  Result<LogRole> check_role(const LogEnd& end) const;
  // Applies the log to its end, or to where nothing leads on. kFailedPrecondition if a snapshot does.
  struct Reached {
    LogPosition position = {};
    std::optional<std::uint64_t> awaited = {};  // see LogReader::awaited_term()
  };
  Result<Reached> catch_up(ShardHost& host);
  Disk& disk() const { return options_.disk != nullptr ? *options_.disk : system_disk(); }

  const ShardLogOptions options_;
  const Hash128 identity_;
  cloud::ObjectStore& all_;
  const std::unique_ptr<cloud::ObjectStore> objects_;
  LogShipper shipper_;
  LogRole role_;
  std::mutex snapshots_mutex_;  // held during a step; guards snapshots_
  std::optional<LogSnapshots> snapshots_;
  mutable std::mutex stats_mutex_;  // guards snapshot_stats_
  SnapshotStats snapshot_stats_;
};

}  // namespace kin::router
