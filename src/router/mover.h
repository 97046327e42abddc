// Carries out the moves of an index (router/move.h), and its repartitions (router/repartition.h).
//
//   Mover mover("papers", meta, connect);
//   KIN_TRY(const StepOutcome outcome, mover.step());  // call again at outcome.next(now)
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/step.h"
#include "router/move.h"
#include "router/repartition.h"
#include "router/router.h"

namespace kin::router {

struct MoverOptions {
  Clock* clock = &system_clock();
  std::chrono::nanoseconds attempt = std::chrono::seconds{10};  // timeout of one call to a shard
  std::chrono::nanoseconds pause = std::chrono::milliseconds{200};  // after a shard did not answer
  // For requests that the source began before it was told to refuse.
  std::chrono::nanoseconds grace = std::chrono::seconds{10};
  // How long nobody may serve the partition because a shard does not answer; then the move is
  // aborted.
  std::chrono::nanoseconds patience = std::chrono::seconds{5};
  // A move that another mover carries on is left to it; after so long without a sign of it, it is
  // taken over.
  std::chrono::nanoseconds yield = std::chrono::seconds{2};
  std::uint64_t bytes_per_second = 0;  // of copies, for each move; 0: no limit
  std::size_t page = 5'000;            // records of a page, which has at most `page_bytes`, too
  std::size_t page_bytes = kPageBytes;
  // Of a copy that the target reads from the source itself: bytes of one call, which is over within
  // a part of `attempt` anyway.
  std::size_t pull_bytes = std::size_t{32} << 20;
  std::size_t removed = 500;  // entities removed at once
  std::size_t divided = 200;  // entities that get another partition at once
  std::size_t most = 2;       // moves at a time; others wait
  bool one_piece = false;     // a step does not pass the fence at once, nor hand over; for tests
};

// How far a move is, as a mover saw it last.
struct MoveStatus {
  std::uint64_t move = 0;          // its id
  std::uint64_t entities = 0;      // copied
  std::optional<std::uint64_t> of = {};  // entities of the partition when the copy began
  std::uint64_t bytes = 0;               // that arrived, about
  double bytes_per_second = 0;           // 0: not known yet
  std::optional<std::chrono::seconds> left = {};  // until the copy is complete
  std::string problem = {};  // why the last step failed; it is tried again
};

// The same of a repartition.
struct RepartitionStatus {
  std::uint64_t repartition = 0;  // its id
  Divided divided = {};
  std::uint64_t placed = 0;  // directory entries that were sent by this mover
  std::string problem = {};
};

// What a mover did since it was made.
struct MoverCounts {
  std::uint64_t bytes = 0;  // of records sent to targets, about
  std::uint64_t done = 0;   // moves whose end this mover wrote
  std::uint64_t failed = 0;
  std::uint64_t divided = 0;  // repartitions whose end this mover wrote
  // Time in which nobody served a partition, of those that were handed over.
  std::chrono::nanoseconds fenced{0};
};

// Any number of routers may step the moves of an index at the same time, and each may stop at any
// moment: everything that matters is in the meta store and on the shards. One thread only; what it
// is given outlives it.
class Mover {
 public:
  Mover(std::string index, MetaStore& meta, Connect connect, const MoverOptions& options = {})
      : index_(std::move(index)), meta_(meta), connect_(std::move(connect)), options_(options) {}

  // Does one piece of every move, and of a repartition. A shard that does not answer is not an
  // error: it is asked again later. Errors are those of the meta store.
  Result<StepOutcome> step();

  // The moves that were stepped and are not over.
  std::vector<MoveStatus> statuses() const;
  // Nothing if none was stepped that is not over.
  std::optional<RepartitionStatus> repartition() const;
  const MoverCounts& counts() const { return counts_; }

 private:
  friend class MoveStep;
  friend class RepartitionStep;
  // A move as this mover has seen it. A mover that starts later waits longer, and no more.
  struct Seen {
    std::optional<SteadyTime> fenced = {};
    std::optional<SteadyTime> grace_ends = {};
    SteadyTime next_page = {};  // by the rate limit
    // The record as it was seen last, and whether this mover wrote what comes next.
    std::uint64_t revision = 0;
    bool wrote = false;
    std::optional<SteadyTime> yields_until = {};
    // Of the copy.
    MoveProgress progress = {};
    std::optional<std::uint64_t> of = {};
    std::optional<SteadyTime> first_seen = {};  // the progress, for the rate
    MoveProgress first = {};
    // Of what is done before the fence, so that little is left behind it.
    std::optional<PlacesMark> places = {};  // entries up to here have arrived
    Lsn digested = 0;                       // of the source's digest that was made last
    int digests = 0;                        // made so far
    bool relays = false;                    // the target cannot read the copy from the source
    std::optional<std::string> ahead_after = {};  // the page that `ahead` begins after
    std::optional<index::ExportPage> ahead = {};  // was read while the one before was stored
    std::string problem = {};
  };
  struct SeenRepartition {
    std::uint64_t id = 0;
    Divided progress = {};
    std::uint64_t placed = 0;
    struct Round {
      std::uint64_t revision = 0;  // of the record
      index::PartitionId member{};
      std::optional<DocId> after = {};
    };
    std::optional<Round> placing = {};
    std::optional<SteadyTime> settles = {};
    std::string problem = {};
  };
  Result<StepOutcome> step_moves();
  Result<StepOutcome> step_repartition();
  Result<StepOutcome> after_error(const StoredRepartition& stored, const Error& error);
  // Whether another mover carries the move on.
  bool yields(const StoredMove& stored);
  Result<StepOutcome> step_one(const StoredMove& stored, const MetaValue& map);
  Result<StepOutcome> pass_fence(index::PartitionId partition);
  ShardClient& client(const std::string& address);
  Result<StepOutcome> after_error(const StoredMove& stored, const Error& error);

  std::string index_;
  MetaStore& meta_;
  Connect connect_;
  MoverOptions options_;
  std::map<std::uint64_t, Seen> seen_;  // by the id of the move
  SeenRepartition divided_;
  std::map<std::string, std::shared_ptr<ShardClient>> clients_;
  MoverCounts counts_;
};

}  // namespace kin::router
