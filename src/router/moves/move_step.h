// One piece of a move.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "router/mover.h"

namespace kin::router {

// Every piece may be done twice, late, and by several movers at once. Why that is safe is in ADR
// 0034. One thread only.
class MoveStep {
 public:
  // `revision` is that of the map.
  MoveStep(Mover& mover, const StoredMove& stored, std::uint64_t revision)
      : mover_(mover),
        stored_(stored),
        move_(stored.move),
        name_{.id = stored.move.id, .partition = stored.move.partition},
        revision_(revision) {}

  Status read(const MetaValue& map);
  Result<StepOutcome> run();

 private:
  // The work of the phases.
  Result<StepOutcome> begin();
  Result<StepOutcome> prepare();
  Result<StepOutcome> copy();
  Status pull(const MoveProgress& before);
  Result<StepOutcome> relay(MoveProgress progress);
  // Waits before the next piece of the copy, where its rate is limited.
  void pace(std::uint64_t bytes);
  Result<StepOutcome> follow();
  Result<StepOutcome> verify();
  Result<StepOutcome> hand_over();
  Result<StepOutcome> wait_for_grace();
  Result<StepOutcome> clean();
  Result<StepOutcome> undo();

  // The page of the copy after this position, which may have been read ahead.
  Result<index::ExportPage> page_after(const std::optional<std::string>& after);
  CopyRequest page_request(const std::optional<std::string>& after) const;
  // For MoveStatus.
  void note_progress(const MoveProgress& progress);

  // Writes the move down in its next phase, or as given.
  Result<StepOutcome> advance();
  Result<StepOutcome> write(const Move& after);
  // The owner that the map names is not the source any more: the move was decided.
  Result<StepOutcome> decided();

  // Another process took the source or the target over since the move began.
  bool taken_over() const;

  const PartitionOwner& owner() const;
  bool source_owns() const;
  bool target_owns() const;
  // Makes `shard` the owner from `epoch` or a later one on. False if the map changed meanwhile.
  Result<bool> change_owner(std::uint32_t shard, std::uint64_t epoch);
  void tell(std::uint32_t shard);

  // Sends directory entries, and has both shards make their digests, so that only what changes from
  // now on is left to do behind the fence. True when that is little.
  Result<bool> prepare_fence();

  // What is left behind the fence. Requests for all of it are sent at once.
  struct Rest {
    FollowPage log = {};
    PlacePage places = {};
    DigestReply ours = {};
    DigestReply theirs = {};
  };
  Result<Rest> read_rest(Lsn after);
  // Sends the log after `page` to the target, until it is at the end.
  Status send_log(FollowPage page);
  // Sends the entries after `page`, too.
  Status send_places(PlacePage page);
  Status send_places();
  static Status compare(const DigestReply& ours, const DigestReply& theirs);
  PlacesRequest places_request() const;
  Result<MoveProgress> take(TakeRequest request);

  template <typename Asked>
  Started<typename Asked::Reply> start_call(std::uint32_t shard, Asked request);
  template <typename Asked>
  Result<typename Asked::Reply> ask(std::uint32_t shard, Asked request);
  template <typename T>
  static Result<T> result_of(Reply<T> reply);

  SteadyTime now() const { return mover_.options_.clock->steady_now(); }
  Mover::Seen& seen() { return mover_.seen_[move_.id]; }

  Mover& mover_;
  const StoredMove& stored_;
  const Move& move_;
  MoveName name_;
  std::uint64_t revision_;
  ShardMap map_;
};

}  // namespace kin::router
