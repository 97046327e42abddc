// Carries out the moves of an index (router/move.h).
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

#include "base/clock.h"
#include "base/result.h"
#include "base/step.h"
#include "router/move.h"
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
  std::uint64_t bytes_per_second = 0;  // of copies, for each move; 0: no limit
  std::size_t page = 500;              // records of a page, and entities removed at once
  std::size_t most = 2;                // moves at a time; others wait
};

// Any number of routers may step the moves of an index at the same time, and each may stop at any
// moment: everything that matters is in the meta store and on the shards. One thread only; what it
// is given outlives it.
class Mover {
 public:
  Mover(std::string index, MetaStore& meta, Connect connect, const MoverOptions& options = {})
      : index_(std::move(index)), meta_(meta), connect_(std::move(connect)), options_(options) {}

  // Does one piece of every move. A shard that does not answer is not an error: it is asked again
  // later. Errors are those of the meta store.
  Result<StepOutcome> step();

 private:
  friend class MoveStep;
  // A move as this mover has seen it. A mover that starts later waits longer, and no more.
  struct Seen {
    std::optional<SteadyTime> fenced = {};
    std::optional<SteadyTime> grace_ends = {};
    SteadyTime next_page = {};  // by the rate limit
  };
  Result<StepOutcome> step_one(const StoredMove& stored, const MetaValue& map);
  ShardClient& client(const std::string& address);
  Result<StepOutcome> after_error(const StoredMove& stored, const Error& error);

  std::string index_;
  MetaStore& meta_;
  Connect connect_;
  MoverOptions options_;
  std::map<std::uint64_t, Seen> seen_;  // by the id of the move
  std::map<std::string, std::shared_ptr<ShardClient>> clients_;
};

}  // namespace kin::router
