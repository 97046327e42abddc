#include "router/move.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/format_head.h"
#include "base/sized_text.h"

namespace kin::router {
namespace {

constexpr FormatHead kHead{.name = "the move of a partition", .magic = "KMOV"};
constexpr std::uint16_t kVersion = 2;
constexpr std::uint16_t kWithoutTerms = 1;  // written while both are 0: older routers read it

std::string moves_prefix(std::string_view index) {
  return fmt::format("{}{}/", kMovesPrefix, index);
}

std::uint32_t number_of(index::PartitionId partition) {
  return static_cast<std::uint32_t>(partition);
}

Result<std::optional<StoredMove>> read_move(MetaStore& meta, std::string_view index,
                                            index::PartitionId partition) {
  KIN_TRY(const auto value, meta.get(move_key(index, partition)));
  if (!value) return std::optional<StoredMove>();
  KIN_TRY(Move move, decode_move(value->bytes));
  return std::optional(StoredMove{.move = std::move(move), .revision = value->revision});
}

}  // namespace

std::string_view name_of(MovePhase phase) {
  switch (phase) {
    case MovePhase::kPreparing: return "preparing";
    case MovePhase::kCopying: return "copying";
    case MovePhase::kFollowing: return "following";
    case MovePhase::kVerifying: return "verifying";
    case MovePhase::kHandingOver: return "handing over";
    case MovePhase::kGrace: return "grace";
    case MovePhase::kCleaning: return "cleaning";
    case MovePhase::kDone: return "done";
    case MovePhase::kAborting: return "aborting";
    case MovePhase::kFailed: return "failed";
  }
  KIN_UNREACHABLE();
}

Status check_move(const ShardMap& map, const NewMove& wanted) {
  const std::uint32_t partition = number_of(wanted.partition);
  if (partition >= map.partitions.size())
    return Error{Code::kInvalidArgument,
                 fmt::format("index {} has no partition {} (it has 0 to {})", map.index, partition,
                             map.partitions.size() - 1)};
  if (wanted.target >= map.shards.size())
    return Error{Code::kInvalidArgument,
                 fmt::format("index {} has no shard {} (it has 0 to {})", map.index, wanted.target,
                             map.shards.size() - 1)};
  if (map.dividing && map.dividing->members.contains(wanted.partition))
    return Error{Code::kFailedPrecondition,
                 fmt::format("partition {} is being divided, and does not move meanwhile (`kindred "
                             "shards migrations {}` shows how far)",
                             partition, map.index)};
  if (map.shard_of(wanted.partition) == wanted.target)
    return Error{Code::kInvalidArgument, fmt::format("partition {} is on shard {} already",
                                                     partition, wanted.target)};
  return Done{};
}

Result<Move> begin_move(MetaStore& meta, std::string_view index, const NewMove& wanted) {
  KIN_TRY(const auto last, read_move(meta, index, wanted.partition));
  const Error moves{Code::kFailedPrecondition,
                    fmt::format("partition {} of index {} is being moved already",
                                number_of(wanted.partition), index)};
  if (last && !rule_of(last->move.phase).over) return moves;
  // After the last move was read: the map is not older than its end.
  KIN_TRY(const auto value, meta.get(map_key(index)));
  if (!value) return Error{Code::kNotFound, fmt::format("there is no index named {}", index)};
  KIN_TRY(const ShardMap map, decode_shard_map(value->bytes));
  KIN_RETURN_IF_ERROR(check_move(map, wanted));
  const PartitionOwner& owner = map.partitions[number_of(wanted.partition)];
  const Move move{.partition = wanted.partition,
                  .source = owner.shard,
                  .target = wanted.target,
                  .epoch = owner.epoch,
                  .source_term = map.term_of(owner.shard),
                  .target_term = map.term_of(wanted.target)};
  KIN_TRY(const bool begun, swap_move(meta, index, last.value_or(StoredMove{}), move));
  if (!begun) return moves;
  return move;
}

Result<Move> abort_move(MetaStore& meta, std::string_view index, index::PartitionId partition,
                        std::string reason) {
  for (;;) {
    KIN_TRY(const auto now, read_move(meta, index, partition));
    if (!now)
      return Error{Code::kNotFound, fmt::format("partition {} of index {} was never moved",
                                                number_of(partition), index)};
    if (!rule_of(now->move.phase).can_abort)
      return Error{Code::kFailedPrecondition,
                   fmt::format("the move of partition {} cannot be aborted any more: it is {}",
                               number_of(partition), name_of(now->move.phase))};
    Move after = now->move;
    after.phase = MovePhase::kAborting;
    after.reason = reason;
    KIN_TRY(const bool aborted, swap_move(meta, index, *now, after));
    if (aborted) return after;
  }
}

Result<std::vector<StoredMove>> read_stored_moves(MetaStore& meta, std::string_view index) {
  KIN_TRY(const MetaChanges all, meta.watch(moves_prefix(index), 0, SteadyTime{}));
  std::vector<StoredMove> moves;
  for (const MetaEntry& entry : all.entries) {
    if (!entry.value) continue;
    KIN_TRY(Move move, decode_move(entry.value->bytes));
    moves.push_back({.move = std::move(move), .revision = entry.value->revision});
  }
  return moves;
}

Result<std::vector<Move>> read_moves(MetaStore& meta, std::string_view index) {
  KIN_TRY(auto stored, read_stored_moves(meta, index));
  std::vector<Move> moves;
  for (StoredMove& one : stored) moves.push_back(std::move(one.move));
  return moves;
}

Status forget_moves(MetaStore& meta, std::string_view index) {
  for (;;) {
    KIN_TRY(const auto moves, read_stored_moves(meta, index));
    if (moves.empty()) return Done{};
    for (const StoredMove& one : moves) {
      KIN_TRY([[maybe_unused]] const auto removed,
              meta.swap(move_key(index, one.move.partition), one.revision, std::nullopt));
    }
  }
}

Result<bool> swap_move(MetaStore& meta, std::string_view index, const StoredMove& before,
                       const Move& after) {
  KIN_TRY(const auto written,
          meta.swap(move_key(index, after.partition), before.revision, encode(after)));
  return written.has_value();
}

std::string encode(const Move& move) {
  const bool has_terms = move.source_term != 0 || move.target_term != 0;
  std::string out(kHead.magic);
  append_le(out, has_terms ? kVersion : kWithoutTerms);
  append_le(out, move.id);
  append_le(out, number_of(move.partition));
  append_le(out, move.source);
  append_le(out, move.target);
  append_le(out, move.epoch);
  append_le(out, move.fence);
  append_le(out, move.phase);
  append_sized(out, move.reason);
  if (has_terms) {
    append_le(out, move.source_term);
    append_le(out, move.target_term);
  }
  append_le(out, checksum(out));
  return out;
}

Result<Move> decode_move(std::string_view bytes) {
  KIN_TRY(auto fields, read_format(kHead, {kVersion, kWithoutTerms}, bytes));
  ByteReader& in = fields.in;
  Move move{.id = in.read<std::uint64_t>()};
  move.partition = index::PartitionId{in.read<std::uint32_t>()};
  move.source = in.read<std::uint32_t>();
  move.target = in.read<std::uint32_t>();
  move.epoch = in.read<std::uint64_t>();
  move.fence = in.read<std::uint64_t>();
  const auto phase = in.read<std::uint8_t>();
  move.reason = read_sized(in);
  if (fields.version == kVersion) {
    move.source_term = in.read<std::uint64_t>();
    move.target_term = in.read<std::uint64_t>();
    if (move.source_term == 0 && move.target_term == 0) return kHead.damaged();
  }
  if (!in.ok() || !in.rest().empty() || phase > static_cast<std::uint8_t>(MovePhase::kFailed))
    return kHead.damaged();
  move.phase = static_cast<MovePhase>(phase);
  return move;
}

std::string move_key(std::string_view index, index::PartitionId partition) {
  // Of one length, so that keys are in the order of partitions.
  return fmt::format("{}{:010}", moves_prefix(index), number_of(partition));
}

std::string index_of_move(std::string_view key) {
  key.remove_prefix(std::min(key.size(), kMovesPrefix.size()));
  return std::string(key.substr(0, key.rfind('/')));
}

}  // namespace kin::router
