// One copy of a shard on a node: the owner, or a follower that takes over when the owner is gone.
//
//   Replica replica(host, shipper, meta, objects, options);
//   host.ask_standing([&] { return replica.standing(); });
//   ... one thread: replica.step_lease(), another one: replica.step_log() ...
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/hash.h"
#include "base/result.h"
#include "base/step.h"
#include "cloud/object_store.h"
#include "router/lease.h"
#include "router/log_reader.h"
#include "router/log_shipper.h"
#include "router/meta_store.h"
#include "router/shard_host.h"

namespace kin::router {

struct ReplicaOptions {
  std::string index = {};
  Hash128 identity = {};  // of the shard
  LeaseHolder self = {};
  // The folder holds the state of the owner, as the last process left it. If another copy owned the
  // shard since, that state is given up.
  bool was_owner = false;
  // The object of the log after which the owner's folder was closed by hand_over(), if nothing was
  // opened or written in it since: forgotten durably before it is opened. The next term then begins
  // with the state in the log, and needs no snapshot.
  std::optional<LogPosition> clean = {};
  // Records durably that the folder holds the state of the owner from now on.
  std::function<Status()> keep_owner = {};
  LeaseOptions lease = {};
  std::chrono::nanoseconds poll = std::chrono::milliseconds{200};  // of a follower, for the log
};

// Followers answer reads that older states may answer. A state is old by the time since the
// follower last saw the end of the log, also while it takes over: with replies that wait for the
// log it has everything that was acknowledged until then. What the owner acknowledged without that
// and did not ship, no follower has.
//
// What a take-over does, each step of which may be repeated, also by another copy in a later term:
// the lease is swapped to the next term; the old term of the log is sealed and applied to its end;
// the map gives the shard's partitions to this copy, from a new epoch on; the new term of the log
// begins. Only then does the copy answer, and only while its lease is valid.
//
// step_lease() and step_log() each belong to one thread, and may block on the meta store and the
// object store; everything else is thread-safe. What it is given outlives it.
class Replica {
 public:
  enum class Phase : std::uint8_t {
    kStarting,   // the indexes are built; it is not known yet who owns the shard
    kFollowing,  // applies the log of the owner
    kSealing,    // has the lease; ends the old term of the log and applies it to its end
    kEntering,   // enters its address in the map
    kBeginning,  // begins the new term of the log
    kOwning,
    kLost,  // another copy took over: the folder must be restored before it follows
    kLeft   // hand_over() was called
  };

  // `objects` are those of the shard (router/shipped_log.h).
  Replica(ShardHost& host, LogShipper& shipper, MetaStore& meta, cloud::ObjectStore& objects,
          ReplicaOptions options);

  // Renews, watches or takes the lease. Errors are those of the meta store: call again.
  Result<StepOutcome> step_lease();
  // Follows, takes over or ships, one piece at a time. Errors kUnavailable: call again. Others mean
  // that the copy cannot go on by the log, and must be restored.
  Result<StepOutcome> step_log();

  // The owner is stopped in order: ships what waits, and gives its lease back, so that another copy
  // or the next process on this folder takes it without waiting for its end. The shard is closed
  // already (ShardHost::close()), and neither step runs beside it. The last object of the log,
  // after which the log has all of the folder (ReplicaOptions::clean); nothing if this was no owner
  // or could not ship: then the lease is kept to its end.
  std::optional<LogPosition> hand_over();

  Standing standing() const;
  Phase phase() const { return phase_.load(); }
  std::uint64_t term() const { return lease_.term(); }
  const Lease& lease() const { return lease_; }

 private:
  Result<StepOutcome> start();
  Result<StepOutcome> follow();
  Result<StepOutcome> seal();
  // Ends the last term of the log. False if another copy owns it.
  Result<bool> seal_log();
  // Whether the copy has all that the log had when it was sealed.
  Status check_end();
  enum class Read : std::uint8_t {
    kApplied,  // the next object
    kAtEnd,    // there is none yet
    kBlocked   // the owner's state is in no object yet, and was acknowledged to nobody
  };
  Result<Read> read_on();
  enum class Entry : std::uint8_t {
    kDone,      // the map has this copy as the owner
    kTried,     // it was written, perhaps
    kNotThere,  // the shard is not in the map yet
    kOthers     // another copy is the owner, in a later term
  };
  Result<Entry> enter();
  Result<StepOutcome> enter_map();
  Result<StepOutcome> own();
  Result<StepOutcome> begin_term();
  StepOutcome lose();
  bool may_lead() const;
  Standing as_follower() const;
  void saw_end(SteadyTime asked);
  bool is_proved();
  SteadyTime now() const { return options_.lease.clock->steady_now(); }

  ShardHost& host_;
  LogShipper& shipper_;
  MetaStore& meta_;
  cloud::ObjectStore& objects_;
  const ReplicaOptions options_;
  Lease lease_;
  std::atomic<Phase> phase_{Phase::kStarting};
  std::atomic<bool> is_built_{false};    // the indexes, of what the folder held
  std::atomic<bool> is_current_{false};  // the end of the log was reached at least once, by a copy
  std::atomic<SteadyTime> current_at_{SteadyTime::min()};  // when that was seen last
  // The copy had everything that was acknowledged; later than the time above where it is blocked.
  std::atomic<bool> is_complete_{false};
  std::atomic<SteadyTime> complete_at_{SteadyTime::min()};

  // Of step_log().
  std::optional<LogReader> reader_;  // nothing: the state of the owner is in the folder
  std::uint64_t first_term_ = 0;     // of the log that the copy's state is of, when it began
  bool is_proved_ = false;           // see is_proved()
  bool is_sealed_ = false;           // by this copy
  LogPosition seal_at_ = {};         // then; {0, 0}: there is no log
  bool begun_ = false;                    // the term of the log
  std::uint64_t term_ = 0;
  Hash128 writer_ = {};
  AssignRequest assignment_;
  bool is_entered_ = false;  // in the map
  SteadyTime enters_at_ = SteadyTime::min();
};

// For people: "following".
std::string_view name_of(Replica::Phase phase);

}  // namespace kin::router
