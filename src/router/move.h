// A move of a partition from one shard to another, as routers agree on it (ADR 0034).
//
//   KIN_TRY(const Move move, begin_move(meta, "papers", {.partition = 7, .target = 2}));
//   ...  // every router steps it (router/mover.h)
//   KIN_TRY(const auto moves, read_moves(meta, "papers"));
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/result.h"
#include "router/meta_store.h"
#include "router/requests.h"
#include "router/shard_map.h"

namespace kin::router {

enum class MovePhase : std::uint8_t {
  kPreparing,    // the target is emptied, and the source keeps its log from now on
  kCopying,      // a copy is sent, page by page
  kFollowing,    // changes since are sent, in their order
  kVerifying,    // the source refuses requests; the last changes are sent, and digests compared
  kHandingOver,  // both copies are equal: the map is changed
  kGrace,        // the target owns the partition; old requests to the source may still end
  kCleaning,     // the source removes its copy
  kDone,
  kAborting,  // the source serves on; the target removes its copy
  kFailed,    // it was aborted; `reason` says why
};

// The facts about a phase that decisions are made by, in one place.
struct PhaseRule {
  MovePhase next = MovePhase::kFailed;  // when its work is done
  bool can_abort = false;
  bool fenced = false;  // the source may refuse requests, and nobody else serves yet
  bool over = false;
};
constexpr PhaseRule rule_of(MovePhase phase) {
  switch (phase) {
    case MovePhase::kPreparing: return {.next = MovePhase::kCopying, .can_abort = true};
    case MovePhase::kCopying: return {.next = MovePhase::kFollowing, .can_abort = true};
    case MovePhase::kFollowing: return {.next = MovePhase::kVerifying, .can_abort = true};
    case MovePhase::kVerifying:
      return {.next = MovePhase::kHandingOver, .can_abort = true, .fenced = true};
    case MovePhase::kHandingOver:
      return {.next = MovePhase::kGrace, .can_abort = true, .fenced = true};
    case MovePhase::kGrace: return {.next = MovePhase::kCleaning};
    case MovePhase::kCleaning: return {.next = MovePhase::kDone};
    case MovePhase::kDone: return {.next = MovePhase::kDone, .over = true};
    case MovePhase::kAborting: return {.next = MovePhase::kFailed};
    case MovePhase::kFailed: return {.next = MovePhase::kFailed, .over = true};
  }
  KIN_UNREACHABLE();
}
// For people: "copying".
std::string_view name_of(MovePhase phase);

struct Move {
  std::uint64_t id = 0;  // 0 until the first step; later moves have higher ones
  index::PartitionId partition{};
  std::uint32_t source = 0;  // places in ShardMap::shards
  std::uint32_t target = 0;
  std::uint64_t epoch = 0;  // from which the source owned the partition when the move began
  std::uint64_t fence = 0;  // epoch from which the source refuses requests; 0: it was not told yet
  MovePhase phase = MovePhase::kPreparing;
  std::string reason = {};  // why it is aborted
  // ShardMap::terms of source and target when the move began. A process that took one of them over
  // may lack what the other was told.
  std::uint64_t source_term = 0;
  std::uint64_t target_term = 0;
  friend bool operator==(const Move&, const Move&) = default;
};

struct NewMove {
  index::PartitionId partition{};
  std::uint32_t target = 0;
};
// Whether the move makes sense by the map. kInvalidArgument if there is no such partition or shard,
// or the target owns the partition already; kFailedPrecondition while a repartition divides it.
Status check_move(const ShardMap& map, const NewMove& wanted);
// Writes the move down; routers step it from then on. kFailedPrecondition if the partition moves
// already. Errors as check_move(), and kNotFound if there is no such index.
Result<Move> begin_move(MetaStore& meta, std::string_view index, const NewMove& wanted);
// Has the move undone. kFailedPrecondition if it is too late, kNotFound if there is none. The
// hand-over decides: a move that was handed over meanwhile is completed.
Result<Move> abort_move(MetaStore& meta, std::string_view index, index::PartitionId partition,
                        std::string reason);
// The last move of each partition, by partition.
Result<std::vector<Move>> read_moves(MetaStore& meta, std::string_view index);

// Removes the moves of an index that has no map any more.
Status forget_moves(MetaStore& meta, std::string_view index);

// A move with the revision by which it can be changed.
struct StoredMove {
  Move move = {};
  std::uint64_t revision = 0;
};
Result<std::vector<StoredMove>> read_stored_moves(MetaStore& meta, std::string_view index);
// False if somebody else was faster.
Result<bool> swap_move(MetaStore& meta, std::string_view index, const StoredMove& before,
                       const Move& after);

// The bytes of docs/formats.md, "A router: the meta store, maps, moves and centroids".
std::string encode(const Move& move);
// kDataLoss for bytes that no encoder wrote, kFailedPrecondition for an unknown version.
Result<Move> decode_move(std::string_view bytes);

// Its key in a MetaStore, and the index in such a key.
inline constexpr std::string_view kMovesPrefix = "move/";
std::string move_key(std::string_view index, index::PartitionId partition);
std::string index_of_move(std::string_view key);

}  // namespace kin::router
