// What a node serves, and the figures of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/step.h"
#include "router/log_shipper.h"
#include "router/log_snapshot.h"
#include "router/shard_host.h"
#include "rpc/served_indexes.h"

namespace kin::server {

struct LogFigures {
  router::LogShipperStats shipped = {};
  router::SnapshotStats snapshots = {};
};

// Of a node with leases.
struct CopyFigures {
  std::string_view role = {};        // router::name_of(Replica::Phase), or "restoring"
  bool answers = false;              // as the owner
  std::uint64_t term = 0;            // of the lease as it was seen last
  std::uint64_t take_overs = 0;      // by this process
  router::LogPosition applied = {};  // the last object of the log that a follower applied
  // How old a follower's state may be; nothing if it does not follow.
  std::optional<std::chrono::milliseconds> behind = {};
};

struct ShardFigures {
  std::string index = {};
  std::string shard = {};  // its identity, on a node that may have several of an index
  std::optional<index::ShardStats> stats = {};  // nothing while its rows are restored
  router::PartitionLoads loads = {};
  std::optional<LogFigures> log = {};  // nothing: it ships no log
  std::optional<CopyFigures> copy = {};
};

// Thread-safe.
class NodeShards : public rpc::ServedIndexes {
 public:
  virtual std::vector<ShardFigures> figures() = 0;
  // Does one piece of background work for every shard.
  virtual Result<StepOutcome> step() = 0;
  // Whether one of them takes part in a move of a partition.
  virtual bool is_in_move() = 0;
  // Does one piece of work for snapshots; on a thread of its own.
  virtual Result<StepOutcome> step_snapshots() = 0;
  // Writes checkpoints and closes the files. No call may be running.
  virtual Status close() = 0;
};

}  // namespace kin::server
