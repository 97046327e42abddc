#include "router/moves/move_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace kin::router {
namespace {

// Changes that are read again behind the fence in little time, on any machine.
constexpr Lsn kFewChanges = 200;
// A shard that is written to all the time is fenced although there are more.
constexpr int kMostDigests = 6;

}  // namespace

Status MoveStep::read(const MetaValue& map) {
  KIN_TRY(map_, decode_shard_map(map.bytes));
  const std::size_t shards = map_.shards.size();
  if (static_cast<std::size_t>(move_.partition) >= map_.partitions.size() ||
      move_.source >= shards || move_.target >= shards)
    return Error{Code::kDataLoss, "a stored move does not fit the map of its index"};
  return Done{};
}

Result<StepOutcome> MoveStep::run() {
  if (move_.id == 0) return begin();
  if (rule_of(move_.phase).can_abort && taken_over()) {
    // Where the map gave the partition to the target before that, the move is completed (undo()).
    Move after = move_;
    after.phase = MovePhase::kAborting;
    after.reason = "another node took a shard of the move over";
    return write(after);
  }
  switch (move_.phase) {
    case MovePhase::kPreparing: return prepare();
    case MovePhase::kCopying: return copy();
    case MovePhase::kFollowing: return follow();
    case MovePhase::kVerifying: return verify();
    case MovePhase::kHandingOver: return hand_over();
    case MovePhase::kGrace: return wait_for_grace();
    case MovePhase::kCleaning: return clean();
    case MovePhase::kAborting: return undo();
    case MovePhase::kDone:
    case MovePhase::kFailed: return StepOutcome::idle();
  }
  KIN_UNREACHABLE();
}

// Revisions of the meta store only grow, and no two moves have the same.
Result<StepOutcome> MoveStep::begin() {
  Move after = move_;
  after.id = stored_.revision;
  return write(after);
}

Result<StepOutcome> MoveStep::prepare() {
  KIN_TRY(MoveProgress progress,
          ask(move_.target, ReceiveRequest{.move = name_, .limit = mover_.options_.removed}));
  if (!progress.ready) return StepOutcome::worked();
  // From here on the source keeps its log. The copy that follows is not older.
  KIN_TRY(const FollowPage begun, ask(move_.source, FollowRequest{.move = name_}));
  progress.lsn = begun.up_to;
  KIN_TRY(seen().progress, take({.progress = progress}));
  return advance();
}

Result<StepOutcome> MoveStep::copy() {
  if (now() < seen().next_page) return StepOutcome::not_before(seen().next_page);
  KIN_TRY(MoveProgress progress, ask(move_.target, ReceiveRequest{.move = name_}));
  const bool is_another = progress != seen().progress;
  note_progress(progress);
  if (progress.copied) return advance();
  if (is_another) {  // or this mover begins
    seen().yields_until = now() + mover_.options_.yield;
    return StepOutcome::not_before(*seen().yields_until);
  }
  if (!seen().relays) {
    if (pull(progress).ok()) return StepOutcome::worked();
    // Perhaps the target does not reach the source, or is an older program.
    seen().relays = true;
  }
  return relay(std::move(progress));
}

// The target reads the copy from the source.
Status MoveStep::pull(const MoveProgress& before) {
  const CopyRequest page = page_request({});
  const bool is_limited = mover_.options_.bytes_per_second > 0;
  KIN_TRY(
      const MoveProgress progress,
      ask(move_.target, PullRequest{.move = name_,
                                    .source = map_.shards[move_.source],
                                    .shard = map_.identity_of(move_.source),
                                    .limit = page.limit,
                                    .bytes = page.bytes,
                                    .pull = is_limited ? page.bytes : mover_.options_.pull_bytes}));
  const std::uint64_t bytes = progress.bytes - std::min(progress.bytes, before.bytes);
  mover_.counts_.bytes += bytes;
  pace(bytes);
  note_progress(progress);
  return Done{};
}

// The copy goes through this process.
Result<StepOutcome> MoveStep::relay(MoveProgress progress) {
  KIN_TRY(index::ExportPage page, page_after(progress.next));
  progress.copied = !page.next;
  progress.next = page.next;
  progress.entities += index::live_entities_in(page.records);
  pace(index::size_of(page.records));
  // The next page is read while this one is stored.
  std::optional<Started<index::ExportPage>> ahead;
  if (page.next) ahead.emplace(start_call(move_.source, page_request(page.next)));
  auto kept = take({.records = std::move(page.records), .progress = progress});
  if (ahead) {
    auto next = result_of(ahead->wait());
    if (next.ok()) seen().ahead = std::move(*next);
    seen().ahead_after = page.next;
  }
  if (!kept.ok()) return kept.error();
  note_progress(*kept);
  return StepOutcome::worked();
}

void MoveStep::pace(std::uint64_t bytes) {
  const std::uint64_t rate = mover_.options_.bytes_per_second;
  if (rate > 0)
    seen().next_page = now() + std::chrono::nanoseconds{std::chrono::seconds{1}} * bytes / rate;
}

CopyRequest MoveStep::page_request(const std::optional<std::string>& after) const {
  const MoverOptions& options = mover_.options_;
  // A slow copy comes in small pages, so that it is even.
  const std::size_t most = options.bytes_per_second == 0
                               ? options.page_bytes
                               : std::max<std::size_t>(options.bytes_per_second / 4, 1);
  return {.move = name_,
          .after = after,
          .limit = options.page,
          .bytes = std::min(options.page_bytes, most)};
}

Result<index::ExportPage> MoveStep::page_after(const std::optional<std::string>& after) {
  auto ahead = std::exchange(seen().ahead, std::nullopt);
  if (ahead && after && seen().ahead_after == after) return std::move(*ahead);
  return ask(move_.source, page_request(after));
}

void MoveStep::note_progress(const MoveProgress& progress) {
  Mover::Seen& known = seen();
  known.progress = progress;
  if (known.first_seen) return;
  known.first_seen = now();
  known.first = progress;
  // For people only: without it the time left is not known.
  auto stats = ask(move_.source, StatsRequest{.sizes = true});
  if (!stats.ok()) return;
  const auto size = stats->sizes.find(move_.partition);
  known.of = size == stats->sizes.end() ? 0 : size->second;
}

Result<StepOutcome> MoveStep::follow() {
  KIN_TRY(MoveProgress progress, ask(move_.target, ReceiveRequest{.move = name_}));
  KIN_TRY(FollowPage page, ask(move_.source, FollowRequest{.move = name_,
                                                           .after = progress.lsn,
                                                           .limit = mover_.options_.page,
                                                           .bytes = mover_.options_.page_bytes}));
  progress.lsn = page.up_to;
  KIN_TRY(seen().progress, take({.records = std::move(page.records), .progress = progress}));
  if (page.up_to < page.last) return StepOutcome::worked();
  if (!source_owns()) return decided();
  KIN_TRY(const bool is_ready, prepare_fence());
  if (!is_ready) return StepOutcome::worked();
  // Written down before the source is told, so that an abort knows which epoch to go beyond.
  Move after = move_;
  after.phase = rule_of(move_.phase).next;
  after.fence = map_.epoch + 1;
  return write(after);
}

Result<StepOutcome> MoveStep::verify() {
  if (!source_owns()) return decided();
  if (!seen().fenced) seen().fenced = now();
  const AssignRequest fence{
      .owners = {{.partition = move_.partition, .epoch = move_.fence, .owned = false}}};
  KIN_TRY([[maybe_unused]] const Assigned told, ask(move_.source, fence));
  // Where this mover prepared the fence, it knows; another one may have come further since, which
  // does no harm.
  if (seen().digests == 0) {
    KIN_TRY(seen().progress, ask(move_.target, ReceiveRequest{.move = name_}));
  }
  KIN_TRY(Rest rest, read_rest(seen().progress.lsn));
  const bool is_all = rest.log.records.empty() && rest.places.is_rest && rest.places.places.empty();
  KIN_RETURN_IF_ERROR(send_log(std::move(rest.log)));
  KIN_RETURN_IF_ERROR(send_places(std::move(rest.places)));
  if (!is_all) {
    KIN_TRY(rest.theirs,
            ask(move_.target,
                DigestRequest{.partition = move_.partition, .kept = true, .urgent = true}));
  }
  KIN_RETURN_IF_ERROR(compare(rest.ours, rest.theirs));
  return mover_.options_.one_piece ? advance() : hand_over();
}

Result<bool> MoveStep::prepare_fence() {
  if (!seen().places) KIN_RETURN_IF_ERROR(send_places());
  const DigestRequest request{.partition = move_.partition, .kept = true};
  auto source = start_call(move_.source, request);
  auto target = start_call(move_.target, request);
  KIN_TRY(const DigestReply ours, result_of(source.wait()));
  KIN_TRY([[maybe_unused]] const DigestReply theirs, result_of(target.wait()));
  // What is written meanwhile is read again behind the fence.
  const Lsn before = std::exchange(seen().digested, ours.lsn);
  ++seen().digests;
  return (before != 0 && ours.lsn <= before + kFewChanges) || seen().digests >= kMostDigests;
}

// The source's state does not change any more, so the order of these does not matter. That of the
// target does only if there is something left to send.
Result<MoveStep::Rest> MoveStep::read_rest(Lsn after) {
  const DigestRequest digest{.partition = move_.partition, .kept = true, .urgent = true};
  auto log = start_call(move_.source, FollowRequest{.move = name_,
                                                    .after = after,
                                                    .limit = mover_.options_.page,
                                                    .bytes = mover_.options_.page_bytes});
  auto places = start_call(move_.source, places_request());
  auto ours = start_call(move_.source, digest);
  auto theirs = start_call(move_.target, digest);
  Rest rest;
  KIN_TRY(rest.log, result_of(log.wait()));
  KIN_TRY(rest.places, result_of(places.wait()));
  KIN_TRY(rest.ours, result_of(ours.wait()));
  KIN_TRY(rest.theirs, result_of(theirs.wait()));
  return rest;
}

Status MoveStep::send_log(FollowPage page) {
  for (;;) {
    if (page.owned)
      return Error{Code::kFailedPrecondition, "the source serves the partition on"};
    const bool at_end = page.up_to >= page.last;
    MoveProgress progress = seen().progress;
    progress.lsn = page.up_to;
    if (!page.records.empty()) {
      KIN_TRY(seen().progress, take({.records = std::move(page.records), .progress = progress}));
    }
    if (at_end) return Done{};
    KIN_TRY(page, ask(move_.source, FollowRequest{.move = name_,
                                                  .after = progress.lsn,
                                                  .limit = mover_.options_.page,
                                                  .bytes = mover_.options_.page_bytes}));
  }
}

PlacesRequest MoveStep::places_request() const {
  const auto known = mover_.seen_.find(move_.id);
  const bool is_marked = known != mover_.seen_.end() && known->second.places;
  return {.move = name_, .since = is_marked ? *known->second.places : PlacesMark{}};
}

// The directory has no log. It is sent as a whole once, and then what was added since: that the
// source remembers, unless it was stopped meanwhile.
Status MoveStep::send_places() {
  KIN_TRY(PlacePage page, ask(move_.source, places_request()));
  return send_places(std::move(page));
}

Status MoveStep::send_places(PlacePage page) {
  auto mark = page.mark;
  for (;;) {
    if (!page.places.empty()) {
      KIN_TRY(seen().progress,
              take({.places = std::move(page.places), .progress = seen().progress}));
    }
    if (!page.next) break;
    PlacesRequest request{.move = name_, .after = page.next};
    if (page.is_rest) request = {.move = name_, .since = page.mark};
    KIN_TRY(page, ask(move_.source, request));
    if (page.is_rest) mark = page.mark;
  }
  seen().places = mark;
  return Done{};
}

Status MoveStep::compare(const DigestReply& ours, const DigestReply& theirs) {
  if (ours.places != theirs.places)
    return Error{Code::kDataLoss, "the directory entries of the two copies differ"};
  const auto differs = std::ranges::mismatch(ours.digest, theirs.digest).in1;
  if (differs == ours.digest.end()) return Done{};
  return Error{Code::kDataLoss, fmt::format("the two copies differ in bucket {}",
                                            differs - ours.digest.begin())};
}

Result<StepOutcome> MoveStep::hand_over() {
  if (!source_owns()) return decided();
  KIN_TRY(const bool changed, change_owner(move_.target, move_.fence));
  if (!changed) return StepOutcome::worked();
  tell(move_.target);
  if (seen().fenced) mover_.counts_.fenced += now() - *seen().fenced;
  Move after = move_;
  after.phase = MovePhase::kGrace;
  return write(after);
}

Result<StepOutcome> MoveStep::wait_for_grace() {
  auto& ends = seen().grace_ends;
  if (!ends) {
    ends = now() + mover_.options_.grace;
    tell(move_.target);
    tell(move_.source);
  }
  if (now() < *ends) return StepOutcome::not_before(*ends);
  return advance();
}

Result<StepOutcome> MoveStep::clean() {
  KIN_TRY(const Forgotten forgotten,
          ask(move_.source, EndMoveRequest{.move = name_, .limit = mover_.options_.removed}));
  return forgotten.more ? StepOutcome::worked() : advance();
}

Result<StepOutcome> MoveStep::undo() {
  if (target_owns()) return decided();
  if (move_.fence != 0 && source_owns()) {
    // Somebody may have told the source to refuse, or may still do so: it owns the partition again
    // from a later epoch on. And whoever would hand it over finds another map.
    KIN_TRY([[maybe_unused]] const bool changed, change_owner(move_.source, move_.fence + 1));
    return StepOutcome::worked();
  }
  if (move_.fence != 0) tell(move_.source);
  KIN_TRY([[maybe_unused]] const Forgotten kept,
          ask(move_.source, EndMoveRequest{.move = name_, .keep = true}));
  KIN_TRY(const Forgotten forgotten,
          ask(move_.target, EndMoveRequest{.move = name_, .limit = mover_.options_.removed}));
  return forgotten.more ? StepOutcome::worked() : advance();
}

Result<StepOutcome> MoveStep::advance() {
  Move after = move_;
  after.phase = rule_of(move_.phase).next;
  return write(after);
}

Result<StepOutcome> MoveStep::write(const Move& after) {
  // Where somebody else was faster, the next step goes on from what they wrote.
  KIN_TRY(const bool written, swap_move(mover_.meta_, mover_.index_, stored_, after));
  if (!written) return StepOutcome::worked();
  mover_.seen_[after.id].wrote = true;
  if (after.phase == MovePhase::kDone) ++mover_.counts_.done;
  if (after.phase == MovePhase::kFailed) ++mover_.counts_.failed;
  return StepOutcome::worked();
}

Result<StepOutcome> MoveStep::decided() {
  Move after = move_;
  after.phase = target_owns() ? MovePhase::kGrace : MovePhase::kAborting;
  if (!target_owns()) after.reason = "the partition got another owner during the move";
  return write(after);
}

bool MoveStep::taken_over() const {
  return map_.term_of(move_.source) != move_.source_term ||
         map_.term_of(move_.target) != move_.target_term;
}

const PartitionOwner& MoveStep::owner() const {
  return map_.partitions[static_cast<std::size_t>(move_.partition)];
}

bool MoveStep::source_owns() const {
  return owner() == PartitionOwner{.shard = move_.source, .epoch = move_.epoch};
}

bool MoveStep::target_owns() const {
  return owner().shard == move_.target && owner().epoch > move_.epoch;
}

Result<bool> MoveStep::change_owner(std::uint32_t shard, std::uint64_t epoch) {
  ShardMap after = map_;
  after.epoch = std::max(map_.epoch + 1, epoch);
  after.partitions[static_cast<std::size_t>(move_.partition)] = {.shard = shard,
                                                                 .epoch = after.epoch};
  KIN_TRY(const auto written,
          mover_.meta_.swap(map_key(mover_.index_), revision_, encode(after)));
  if (!written) return false;
  map_ = std::move(after);
  return true;
}

// Spares the first requests a round. If it fails, a router that is refused tells the shard.
void MoveStep::tell(std::uint32_t shard) {
  [[maybe_unused]] const auto told = ask(shard, map_.assignment_of(shard));
}

Result<MoveProgress> MoveStep::take(TakeRequest request) {
  request.move = name_;
  const std::uint64_t bytes = index::size_of(request.records);
  request.progress.bytes += bytes;
  mover_.counts_.bytes += bytes;
  return ask(move_.target, std::move(request));
}

template <typename Asked>
Started<typename Asked::Reply> MoveStep::start_call(std::uint32_t shard, Asked request) {
  const CallOptions how{.map_epoch = map_.epoch,
                        .shard = map_.identity_of(shard),
                        .deadline = now() + mover_.options_.attempt};
  return start(mover_.client(map_.shards[shard]), std::move(request), how);
}

template <typename Asked>
Result<typename Asked::Reply> MoveStep::ask(std::uint32_t shard, Asked request) {
  auto reply = result_of(start_call(shard, std::move(request)).wait());
  if (!reply.ok()) return with_context(map_.shards[shard], reply.error());
  return reply;
}

template <typename T>
Result<T> MoveStep::result_of(Reply<T> reply) {
  if (!reply.ok()) return reply.error();
  if (auto* answer = std::get_if<T>(&*reply)) return std::move(*answer);
  return Error{Code::kInternal, "a shard refused a request about a move"};
}

}  // namespace kin::router
