#include "router/repartition.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/format_head.h"
#include "base/sized_text.h"
#include "router/move.h"

namespace kin::router {
namespace {

constexpr FormatHead kHead{.name = "the repartition of an index", .magic = "KPAR"};
constexpr std::uint16_t kVersion = 1;

std::uint32_t number_of(index::PartitionId partition) {
  return static_cast<std::uint32_t>(partition);
}

void append_partitions(std::string& out, const Partitions& partitions) {
  append_le(out, static_cast<std::uint32_t>(partitions.size()));
  for (const index::PartitionId one : partitions) append_le(out, number_of(one));
}

// False if they are not in their order.
bool read_partitions(ByteReader& in, Partitions& partitions) {
  std::optional<std::uint32_t> last;
  for (auto count = in.read<std::uint32_t>(); count > 0 && in.ok(); --count) {
    const auto one = in.read<std::uint32_t>();
    if (last && one <= *last) return false;
    partitions.insert(index::PartitionId{one});
    last = one;
  }
  return in.ok();
}

void append_hash(std::string& out, const Hash128& hash) {
  append_le(out, hash.low);
  append_le(out, hash.high);
}

Hash128 read_hash(ByteReader& in) {
  Hash128 hash{.low = in.read<std::uint64_t>()};
  hash.high = in.read<std::uint64_t>();
  return hash;
}

Error under_way(std::string_view index) {
  return {
      Code::kFailedPrecondition,
      fmt::format("partitions of index {} are being divided already (`kindred shards migrations "
                  "{}` shows how far)",
                  index, index)};
}

Status check_no_move(MetaStore& meta, std::string_view index, const Partitions& partitions) {
  KIN_TRY(const auto moves, read_moves(meta, index));
  for (const Move& move : moves) {
    if (!rule_of(move.phase).over && partitions.contains(move.partition))
      return Error{Code::kFailedPrecondition, fmt::format("partition {} of index {} is being moved",
                                                          number_of(move.partition), index)};
  }
  return Done{};
}

}  // namespace

std::string_view name_of(RepartitionPhase phase) {
  switch (phase) {
    case RepartitionPhase::kLearning: return "learning";
    case RepartitionPhase::kOpening: return "opening";
    case RepartitionPhase::kDividing: return "dividing";
    case RepartitionPhase::kPlacing: return "placing";
    case RepartitionPhase::kSettling: return "settling";
    case RepartitionPhase::kClosing: return "closing";
    case RepartitionPhase::kDone: return "done";
    case RepartitionPhase::kAborting: return "aborting";
    case RepartitionPhase::kFailed: return "failed";
  }
  KIN_UNREACHABLE();
}

Status check_repartition(const ShardMap& map, const NewRepartition& wanted) {
  if (!map.centroids)
    return Error{
        Code::kFailedPrecondition,
        fmt::format("index {} has no centroids: its documents are placed by their ids, and "
                    "its partitions cannot be divided",
                    map.index)};
  if (wanted.partitions.empty())
    return Error{Code::kInvalidArgument, "a repartition needs partitions"};
  for (const index::PartitionId one : wanted.partitions) {
    if (number_of(one) >= map.partitions.size())
      return Error{Code::kInvalidArgument,
                   fmt::format("index {} has no partition {} (it has 0 to {})", map.index,
                               number_of(one), map.partitions.size() - 1)};
    if (map.shard_of(one) != map.shard_of(*wanted.partitions.begin()))
      return Error{
          Code::kInvalidArgument,
          fmt::format("partitions {} and {} are on different nodes: move one of them first "
                      "(`kindred shards move`)",
                      number_of(*wanted.partitions.begin()), number_of(one))};
  }
  if (!std::ranges::includes(wanted.partitions, wanted.retired))
    return Error{Code::kInvalidArgument, "only partitions that take part lose their centroid"};
  if (wanted.added == 0 && wanted.retired.size() == wanted.partitions.size())
    return Error{Code::kInvalidArgument, "a repartition leaves one centroid at least"};
  if (map.dividing) return under_way(map.index);
  return Done{};
}

Result<Repartition> begin_repartition(MetaStore& meta, std::string_view index,
                                      const NewRepartition& wanted) {
  KIN_TRY(const auto last, read_repartition(meta, index));
  if (last && !rule_of(last->repartition.phase).over) return under_way(index);
  KIN_RETURN_IF_ERROR(check_no_move(meta, index, wanted.partitions));
  // After the others were read: the map is not older than their ends.
  KIN_TRY(const auto value, meta.get(map_key(index)));
  if (!value) return Error{Code::kNotFound, fmt::format("there is no index named {}", index)};
  KIN_TRY(const ShardMap map, decode_shard_map(value->bytes));
  KIN_RETURN_IF_ERROR(check_repartition(map, wanted));
  const Repartition made{.shard = map.shard_of(*wanted.partitions.begin()),
                         .members = wanted.partitions,
                         .retired = wanted.retired,
                         .added = wanted.added,
                         .epoch = map.epoch};
  KIN_TRY(const bool begun,
          swap_repartition(meta, index, last.value_or(StoredRepartition{}), made));
  if (!begun) return under_way(index);
  return made;
}

Result<Repartition> abort_repartition(MetaStore& meta, std::string_view index, std::string reason) {
  for (;;) {
    KIN_TRY(const auto now, read_repartition(meta, index));
    if (!now)
      return Error{Code::kNotFound,
                   fmt::format("partitions of index {} were never divided", index)};
    const RepartitionPhase phase = now->repartition.phase;
    if (!rule_of(phase).can_abort)
      return Error{
          Code::kFailedPrecondition,
          fmt::format("the repartition cannot be aborted any more: it is {}", name_of(phase))};
    Repartition after = now->repartition;
    after.phase = RepartitionPhase::kAborting;
    after.reason = reason;
    KIN_TRY(const bool aborted, swap_repartition(meta, index, *now, after));
    if (aborted) return after;
  }
}

Result<std::optional<StoredRepartition>> read_repartition(MetaStore& meta, std::string_view index) {
  KIN_TRY(const auto value, meta.get(repartition_key(index)));
  if (!value) return std::optional<StoredRepartition>();
  KIN_TRY(Repartition repartition, decode_repartition(value->bytes));
  return std::optional(
      StoredRepartition{.repartition = std::move(repartition), .revision = value->revision});
}

Result<bool> swap_repartition(MetaStore& meta, std::string_view index,
                              const StoredRepartition& before, const Repartition& after) {
  KIN_TRY(const auto written, meta.swap(repartition_key(index), before.revision, encode(after)));
  return written.has_value();
}

Status forget_repartition(MetaStore& meta, std::string_view index) {
  for (;;) {
    KIN_TRY(const auto value, meta.get(repartition_key(index)));
    if (!value) return Done{};
    KIN_TRY(const auto removed, meta.swap(repartition_key(index), value->revision, std::nullopt));
    if (removed) return Done{};
  }
}

std::vector<std::uint64_t> taken_terms(const ShardMap& map) {
  std::vector<std::uint64_t> terms = map.terms;
  while (!terms.empty() && terms.back() == 0) terms.pop_back();
  return terms;
}

std::string encode(const Repartition& repartition) {
  std::string out(kHead.magic);
  append_le(out, kVersion);
  append_le(out, repartition.id);
  append_le(out, repartition.phase);
  append_le(out, repartition.shard);
  append_partitions(out, repartition.members);
  append_partitions(out, repartition.retired);
  append_le(out, repartition.added);
  append_le(out, repartition.epoch);
  append_le(out, repartition.partitions);
  append_hash(out, repartition.before);
  append_hash(out, repartition.after);
  append_le(out, static_cast<std::uint32_t>(repartition.terms.size()));
  for (const std::uint64_t term : repartition.terms) append_le(out, term);
  append_sized(out, repartition.reason);
  append_le(out, checksum(out));
  return out;
}

Result<Repartition> decode_repartition(std::string_view bytes) {
  KIN_TRY(auto fields, read_format(kHead, {kVersion}, bytes));
  ByteReader& in = fields.in;
  Repartition made{.id = in.read<std::uint64_t>()};
  const auto phase = in.read<std::uint8_t>();
  made.shard = in.read<std::uint32_t>();
  if (!read_partitions(in, made.members) || !read_partitions(in, made.retired)) return kHead.damaged();
  made.added = in.read<std::uint32_t>();
  made.epoch = in.read<std::uint64_t>();
  made.partitions = in.read<std::uint32_t>();
  made.before = read_hash(in);
  made.after = read_hash(in);
  for (auto count = in.read<std::uint32_t>(); count > 0 && in.ok(); --count)
    made.terms.push_back(in.read<std::uint64_t>());
  made.reason = read_sized(in);
  if (!in.ok() || !in.rest().empty() ||
      phase > static_cast<std::uint8_t>(RepartitionPhase::kFailed) || made.members.empty())
    return kHead.damaged();
  made.phase = static_cast<RepartitionPhase>(phase);
  return made;
}

std::string repartition_key(std::string_view index) {
  return std::string(kRepartitionsPrefix).append(index);
}

}  // namespace kin::router
