// Which process owns a shard, and until when: a lease in the meta store.
//
//   Lease lease(meta, lease_key("papers", identity), {.holder = drawn, .address = "10.0.0.7:7700"});
//   KIN_TRY(const StepOutcome outcome, lease.step());      // again at outcome.next(now)
//   if (lease.may_take()) KIN_TRY(const bool taken, lease.take());
//   if (lease.is_valid()) ...                              // no other process answers now
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/hash.h"
#include "base/result.h"
#include "base/step.h"
#include "router/meta_store.h"

namespace kin::router {

struct LeaseRecord {
  std::uint64_t term = 0;     // grows with every process that takes the lease
  std::uint64_t holder = 0;   // of the copy of the shard that owns it; see LeaseHolder
  std::uint64_t counter = 0;  // of renewals; kReleased: the holder gave it back
  std::string address = {};   // where the owner answers
  // A program that does not know it waits for the end of the lease.
  static constexpr std::uint64_t kReleased = ~std::uint64_t{0};
  friend bool operator==(const LeaseRecord&, const LeaseRecord&) = default;
};

struct LeaseHolder {
  std::uint64_t holder = 0;  // drawn once for each copy of a shard; no two copies have the same
  std::string address = {};
};

struct LeaseOptions {
  Clock* clock = &system_clock();
  // From the moment before the last renewal was sent. All processes have the same.
  std::chrono::nanoseconds length = std::chrono::seconds{5};
  // Others wait this much longer. While one clock measures `length`, another may not measure more
  // than length + margin.
  std::chrono::nanoseconds margin = std::chrono::seconds{1};
  std::chrono::nanoseconds renew = std::chrono::seconds{1};  // time between renewals
  // How often a process without the lease looks at it. A renewal may be noticed this much late, and
  // the wait for its end begins only then.
  std::chrono::nanoseconds look = std::chrono::milliseconds{250};
  std::chrono::nanoseconds pause = std::chrono::milliseconds{200};  // after a call failed
  // Terms that are taken are above this one, also if the meta store knows no lease: that of a log
  // which is older than the lease.
  std::uint64_t after_term = 0;
};

// The side of one process. The owner renews the lease by compare-and-swap; the others wait until
// its revision has not changed for a lease and a margin by their own clock, and then swap it at the
// revision that they saw. So at no moment do two processes have a valid lease. step() and take()
// belong to one thread; everything else is thread-safe. `meta` outlives it.
class Lease {
 public:
  Lease(MetaStore& meta, std::string key, LeaseHolder self, const LeaseOptions& options = {});

  // The owner renews its lease when that is due; the others look at it. Errors are those of the
  // meta store: call again.
  Result<StepOutcome> step();

  // Takes the lease in the next term. False if somebody else was faster; kFailedPrecondition unless
  // may_take(). An error kUnavailable leaves open whether it was taken: step() finds out.
  Result<bool> take();
  // Gives the lease back, in the middle of which it is not valid any more: others may take it at
  // once. For an owner all of whose changes are durable. Later calls of step() and take() do
  // nothing. An error leaves open whether it was given back: others then wait for its end. Belongs
  // to the thread of step().
  Status release();
  // Nobody has the lease, or its owner gave it back, or the owner did not renew it for long enough,
  // or its record says that it belongs to this copy. The last is so when an earlier process took
  // it, which must have ended.
  bool may_take() const;

  // The owner may answer requests that begin now.
  bool is_valid() const;
  // This process has taken the lease and nobody else has since, as far as is known. It may not be
  // valid.
  bool is_held() const { return state_.load() == State::kHeld; }
  // Another process has taken it from this one, which stays so.
  bool is_lost() const { return state_.load() == State::kLost; }

  // What was read last; nothing if there is no lease, or it was never read. One thread, as step().
  const std::optional<LeaseRecord>& seen() const { return seen_; }
  bool was_read() const { return first_seen_.has_value(); }
  // Of the lease that was read last; 0 without one.
  std::uint64_t term() const { return term_.load(); }

 private:
  enum class State : std::uint8_t { kWatching, kHeld, kLost, kReleased };

  Result<StepOutcome> renew();
  Result<StepOutcome> look();
  Status read();
  // Swaps in a record and, if it was written, has the lease until a length after `sent`.
  Result<bool> write(LeaseRecord record);
  void learn(std::optional<LeaseRecord> record, std::uint64_t revision);
  SteadyTime now() const { return options_.clock->steady_now(); }

  MetaStore& meta_;
  const std::string key_;
  const LeaseHolder self_;
  const LeaseOptions options_;
  std::atomic<State> state_{State::kWatching};
  std::atomic<std::uint64_t> term_{0};
  std::atomic<SteadyTime> valid_until_{SteadyTime::min()};
  std::optional<LeaseRecord> seen_;
  std::uint64_t revision_ = 0;
  std::optional<SteadyTime> first_seen_;  // the moment at which this revision was there already
  bool unsure_ = false;                   // a swap may have taken effect: the record must be read
  SteadyTime next_ = SteadyTime::min();   // of the next call
};

// The bytes of docs/formats.md, "A router: the meta store, maps, moves and centroids".
std::string encode(const LeaseRecord& record);
// kDataLoss for bytes that no encoder wrote, kFailedPrecondition for an unknown version.
Result<LeaseRecord> decode_lease(std::string_view bytes);

// Its key in a MetaStore, and what the keys of an index begin with.
std::string lease_key(std::string_view index, const Hash128& identity);
std::string leases_prefix(std::string_view index);

}  // namespace kin::router
