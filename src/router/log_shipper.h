// The owner's side of a shipped log: batches wait here until they are objects.
//
//   LogShipper shipper(objects, {.clock = &clock});
//   ... stores are opened with shipper.observer(LogStore::kTruth) ...
//   KIN_RETURN_IF_ERROR(shipper.begin({.term = 7, .writer = nonce, .base = last}));
//   reply = host.serve(request);
//   const std::uint64_t position = shipper.position();
//   while (shipper.state(position) == LogShipper::Wait::kNotYet) { ... shipper.step() ... }
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "base/step.h"
#include "cloud/object_store.h"
#include "kv/store_options.h"
#include "router/shipped_log.h"

namespace kin::router {

struct LogShipperOptions {
  Clock* clock = &system_clock();
  std::uint64_t most_object_bytes = std::uint64_t{8} << 20;  // a larger batch is an object by itself
  // Limit of the batches in memory. Beyond it they are dropped, the log gets a gap, and a snapshot
  // is wanted.
  std::uint64_t most_queue_bytes = std::uint64_t{256} << 20;
  std::chrono::milliseconds retry{500};  // after a failure of the object store
};

struct LogTerm {
  std::uint64_t term = 0;
  Hash128 writer = {};     // see LogObject::writer
  std::string owner = {};  // name of the node
  std::optional<LogPosition> base = {};  // see LogObject::base
};

struct LogShipperStats {
  std::uint64_t term = 0;
  std::uint64_t position = 0;     // batches that were committed in this term
  std::uint64_t durable = 0;      // of these, that survive the machine
  std::uint64_t queued_bytes = 0;
  std::chrono::milliseconds lag{0};  // age of the oldest batch that is not durable
  std::uint64_t objects = 0;      // created in this term
  std::uint64_t bytes = 0;        // of these
  std::uint64_t gaps = 0;
  std::uint64_t failures = 0;     // calls of the object store that failed
  bool deposed = false;
};

// Thread-safe; starts no thread. One object is in flight at a time, and everything that waits goes
// into the next: throughput is bounded by bandwidth as long as objects are large.
class LogShipper {
 public:
  // `objects` are those of the shard: their names are those of router/shipped_log.h. It must outlive
  // the shipper.
  LogShipper(cloud::ObjectStore& objects, const LogShipperOptions& options);

  // Takes the batches of a store. Those before begin() are the first of the term, except that they
  // are dropped while the shard is a copy, because they come from the log.
  kv::BatchObserver observer(LogStore store);

  void set_copy(bool copy);

  // Creates the first object of a term, which the caller owns by a seal of the term before (see
  // router/log_terms.h). kFailedPrecondition if another writer has it. After an error it may be
  // called again.
  Status begin(const LogTerm& term);

  // Batches that were committed so far. What a caller saw before this call is in them.
  std::uint64_t position() const;
  enum class Wait : std::uint8_t {
    kDurable,  // these batches are in the log, and the log leads to them
    kNotYet,
    kDeposed  // another owner took over: the batches may be lost
  };
  Wait state(std::uint64_t position) const;
  // Blocks until that is not kNotYet, or until `deadline` by the machine's steady clock. For servers;
  // a simulator steps instead.
  Wait wait(std::uint64_t position, SteadyTime deadline) const;

  // Ships what waits. An error of the object store is tried again later, and step() does not fail.
  // Idle if nothing waits and when the shipper is deposed.
  Result<StepOutcome> step();
  // Calls `wake` when there is something to ship. Any thread; must be quick.
  void on_work(std::function<void()> wake);

  bool is_deposed() const;
  // Whether the log has a gap that no snapshot covers yet; see LogSnapshots.
  bool wants_snapshot() const;
  // The last object that was created, and the position in batches up to which the log has them.
  struct Shipped {
    LogPosition object = {};
    std::uint64_t batches = 0;
    std::uint64_t bytes = 0;  // of the term's objects
  };
  Shipped shipped() const;
  // Whether the log has a gap after this object that no snapshot covers.
  bool has_gap_after(const LogPosition& object) const;
  // A snapshot that was begun at `from` is complete. The next object that is created proves that the
  // term was not sealed before that: whoever seals it then finds the snapshot. Only from that object
  // on are batches behind a gap durable.
  void covered(const LogPosition& from);
  // Whether that object is not created yet.
  bool is_confirming() const;

  // Ships what waits, before the shard is closed. The last object, whose state is that of the shard;
  // nothing if a call fails or the log has a gap.
  std::optional<LogPosition> finish();

  LogShipperStats stats() const;

 private:
  struct Queued {
    LogBatch batch;
    std::uint64_t number = 0;  // position() after it
  };
  enum class Phase : std::uint8_t { kCopy, kNotBegun, kShipping, kDeposed };

  void take(LogStore store, std::string bytes);
  // With mutex_ held.
  void prepare_object();
  std::uint64_t durable() const;
  // With creating_ held: creates in_flight_. False if another writer has its position.
  Result<bool> create_object();

  cloud::ObjectStore& objects_;
  const LogShipperOptions options_;
  std::mutex creating_;  // one object at a time; taken before mutex_

  mutable std::mutex mutex_;  // guards what follows
  mutable std::condition_variable changed_;
  std::function<void()> wake_;
  Phase phase_ = Phase::kNotBegun;
  LogTerm term_;
  std::uint64_t next_ = 1;        // number of the next object
  std::uint64_t position_ = 0;
  std::uint64_t shipped_ = 0;     // batches in created objects
  std::deque<Queued> queue_;
  std::uint64_t queued_bytes_ = 0;
  bool gap_wanted_ = false;       // the queue was dropped, and the log does not say so yet
  std::optional<LogPosition> uncovered_;  // the last gap that no snapshot covers
  std::uint64_t before_gap_ = 0;  // batches that are in the log before that gap
  std::optional<LogObject> in_flight_;    // tried before, and perhaps created
  std::uint64_t in_flight_batches_ = 0;   // position after it
  // The beginning of a snapshot that is complete, and that the next object or the one in flight proves.
  std::optional<LogPosition> covering_;
  std::optional<LogPosition> in_flight_covers_;
  std::optional<SteadyTime> not_before_;
  WallTime last_time_ = {};
  LogShipperStats stats_;
};

}  // namespace kin::router
