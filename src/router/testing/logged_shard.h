// A shard with a shipped log on a simulated disk, for tests.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/testing/manual_clock.h"
#include "base/testing/simulated_disk.h"
#include "cloud/testing/simulated_objects.h"
#include "router/shard_log.h"

namespace kin::router {

// One node with one shard. One thread only.
class LoggedShardUnderTest {
 public:
  static constexpr Hash128 kIdentity{.low = 7, .high = 9};
  static constexpr std::uint32_t kPartitions = 2;

  LoggedShardUnderTest(std::string name, std::shared_ptr<cloud::SimulatedObjects::Bytes> bytes,
                       ManualClock& clock)
      : name_(std::move(name)), clock_(clock), objects_(std::move(bytes)) {}

  kv::StoreOptions::Engine engine = kv::StoreOptions::Engine::kLog;
  LogShipperOptions shipper = {};
  SnapshotOptions snapshots = {};
  cloud::SimulatedObjects& objects() { return objects_; }
  SimulatedDisk& disk() { return *disk_; }
  void set_disk(std::unique_ptr<SimulatedDisk> disk) { disk_ = std::move(disk); }
  ShardHost& host() { return *host_; }
  ShardLog& log() { return *log_; }
  bool is_open() const { return host_ != nullptr; }

  // Opens the shard as the folder is: as an owner, or in the place of one; begins a term.
  Status start();
  // Opens the shard as a copy.
  Status follow();
  // Without a farewell, as a process that is killed; and with one.
  void drop();
  Status stop();
  // Loses all files.
  void wipe() {
    drop();
    disk_ = std::make_unique<SimulatedDisk>();
  }
  // Restores the newest state, or that of a time.
  Result<RestoredShard> restore(std::optional<WallTime> at = {});

  // Writes entities `key`, and claims their places. `text` is found by searches.
  Status write(const std::string& key, const std::string& text);
  Status remove(const std::string& key);
  // Steps shipper and snapshots until both are idle.
  void settle();
  bool is_durable() {
    return log_->shipper().state(log_->shipper().position()) == LogShipper::Wait::kDurable;
  }
  // Applies the log to a copy until it has everything for now.
  Status catch_up();

  // Every row of truth and directory, without the position of a copy.
  std::map<std::string, std::string> rows();
  // Keys of the entities whose text has the word, sorted.
  std::vector<std::string> found(const std::string& word);

  cloud::ObjectStore& below();

 private:
  index::ShardOptions shard_options();
  Result<Response> ask(const Request& request);
  Status session();
  void make_log();

  std::string name_;
  ManualClock& clock_;
  cloud::SimulatedObjects objects_;
  std::unique_ptr<cloud::ObjectStore> below_;
  std::unique_ptr<SimulatedDisk> disk_ = std::make_unique<SimulatedDisk>();
  std::unique_ptr<ShardLog> log_;  // the host's stores hand batches to it
  std::unique_ptr<ShardHost> host_;
  std::uint64_t session_ = 0;
  std::uint64_t sequence_ = 0;
  std::uint64_t drawn_ = 0;
  int dumps_ = 0;
};

}  // namespace kin::router
