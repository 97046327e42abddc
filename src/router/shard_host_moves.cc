// Moves of partitions, on the sides of the source and the target.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "router/shard_host.h"

namespace kin::router {
namespace {

using State = MoveRow::State;

// Entities of other partitions that one piece of clear() passes over: writers wait for it.
constexpr std::size_t kMostPassed = 2'000;
// Pieces of work while clients are served: a few milliseconds each. Longer ones cost less in all.
constexpr std::size_t kShortPage = 64 << 10;
constexpr std::size_t kFewRemoved = 25;
// Well below the timeout of a call, so that the caller hears how far the copy is.
constexpr std::chrono::seconds kLongestCall{1};

Reply<Response> done(Response response) {
  return std::variant<Response, Refused>(std::move(response));
}

Error is_over(const MoveName& move) {
  return {Code::kFailedPrecondition,
          fmt::format("move {} of partition {} is over at this shard", move.id,
                      static_cast<std::uint32_t>(move.partition))};
}

// The follower of the log that a partition's move registers.
std::string follower_of(const MoveName& move) {
  return fmt::format("move/{}", static_cast<std::uint32_t>(move.partition));
}

MoveProgress progress_of(const MoveRow& row) {
  MoveProgress progress = row.progress;
  progress.ready = row.state == State::kReceiving;
  return progress;
}

}  // namespace

Status ShardHost::load_moves() {
  KIN_TRY(moves_, directory_->moves());  // nobody else knows the shard yet
  KIN_RETURN_IF_ERROR(learn_repartition());
  if (is_copy_) return Done{};
  return end_received(owners_);
}

bool ShardHost::owns(index::PartitionId partition) const {
  const std::lock_guard lock(owning_);
  const auto owner = owners_.find(partition);
  return owner != owners_.end() && owner->second.owned;
}

bool ShardHost::is_in_move() const {
  const std::lock_guard lock(owning_);
  return std::ranges::any_of(moves_, [](const auto& one) {
    return one.second.id != 0 && one.second.state != State::kOver;
  });
}

MoveRow ShardHost::newest_part(index::PartitionId partition) const {
  const std::lock_guard lock(owning_);
  const auto known = moves_.find(partition);
  return known == moves_.end() ? MoveRow{.id = 0} : known->second;
}

Result<MoveRow> ShardHost::part_in(const MoveName& move) const {
  const MoveRow known = newest_part(move.partition);
  if (known.id < move.id) return MoveRow{.id = 0};
  if (known.id > move.id || (known.id != 0 && known.state == State::kOver)) return is_over(move);
  return known;
}

Status ShardHost::keep(const MoveName& move, const MoveRow& row, std::span<const Placed> places) {
  KIN_RETURN_IF_ERROR(directory_->keep_move(move.partition, row, places));
  const std::lock_guard lock(owning_);
  moves_[move.partition] = row;
  return Done{};
}

Status ShardHost::end_received(const index::Owners& owners) {
  std::map<index::PartitionId, MoveRow> moves;
  {
    const std::lock_guard lock(owning_);
    moves = moves_;
  }
  for (const auto& [partition, row] : moves) {
    const auto owner = owners.find(partition);
    const bool receives = row.state == State::kClearing || row.state == State::kReceiving;
    if (!receives || owner == owners.end() || !owner->second.owned) continue;
    KIN_RETURN_IF_ERROR(keep({row.id, partition}, {.id = row.id, .state = State::kOver}));
  }
  return Done{};
}

Result<bool> ShardHost::clear(const MoveName& move, std::size_t limit) {
  // Those before were removed by earlier pieces, unless something arrived late: then all are looked
  // at again.
  const auto last = cleared_.find(move.partition);
  const bool continues = last != cleared_.end() && last->second.move == move.id;
  index::PartitionIdsRequest request{
      .partition = move.partition, .limit = limit, .most_passed = kMostPassed};
  if (continues) request.after = last->second.id;
  index::PartitionIds page;
  {
    const index::ShardView view = shard_->view();
    KIN_TRY(page, index::partition_ids(view.truth(), request));
  }
  if (!page.ids.empty()) KIN_RETURN_IF_ERROR(shard_->forget(page.ids));
  drop_kept(move.partition);
  if (page.next) {
    cleared_[move.partition] = {.move = move.id, .id = *page.next};
    return true;
  }
  cleared_.erase(move.partition);
  KIN_RETURN_IF_ERROR(directory_->forget_places(move.partition));
  return false;
}

// Other requests take the lock between pieces.
template <typename Piece>
Result<bool> ShardHost::in_pieces(std::size_t limit, Pace* pace, const Piece& piece) {
  const SteadyTime end = clock_.steady_now() + kLongestCall;
  for (std::size_t left = limit;;) {
    const bool is_short = pace != nullptr && pace->has_clients();
    const std::size_t most = is_short ? std::min(left, kFewRemoved) : left;
    const SteadyTime begun = clock_.steady_now();
    KIN_TRY(const bool more, piece(most));
    if (!more) return false;
    if (pace != nullptr) KIN_RETURN_IF_ERROR(pace->rest(clock_.steady_now() - begun));
    left -= most;
    if (left == 0 || clock_.steady_now() >= end) return true;
  }
}

Result<std::optional<MoveProgress>> ShardHost::receive(const MoveName& move, std::size_t limit) {
  const std::lock_guard lock(writing_);
  KIN_TRY(MoveRow row, part_in(move));
  if (owns(move.partition))
    return Error{Code::kFailedPrecondition, "the shard owns the partition that it should receive"};
  if (row.id == 0) {
    row = {.id = move.id, .state = State::kClearing};
    KIN_RETURN_IF_ERROR(keep(move, row));
  }
  if (row.state == State::kSending)
    return Error{Code::kFailedPrecondition, "the shard sends the partition that it should receive"};
  if (row.state == State::kClearing) {
    KIN_TRY(const bool more, clear(move, limit));
    if (more) return std::optional<MoveProgress>();
    row.state = State::kReceiving;
    KIN_RETURN_IF_ERROR(keep(move, row));
  }
  return std::optional(progress_of(row));
}

Reply<Response> ShardHost::answer(const ReceiveRequest& request, const CallOptions& options) {
  std::optional<MoveProgress> ready;
  const auto piece = [&](std::size_t most) -> Result<bool> {
    KIN_TRY(ready, receive(request.move, most));
    return !ready;
  };
  KIN_TRY([[maybe_unused]] const bool more, in_pieces(request.limit, options.pace, piece));
  return done(ready.value_or(MoveProgress{}));
}

Status ShardHost::take_records(std::span<const index::Record> records) {
  const auto is_owner = [](const index::Record& record) {
    return std::holds_alternative<index::OwnerRecord>(record);
  };
  std::vector<index::Record> kept;
  // Owners come from maps alone.
  if (std::ranges::any_of(records, is_owner)) {
    std::ranges::remove_copy_if(records, std::back_inserter(kept), is_owner);
    records = kept;
  }
  if (records.empty()) return Done{};
  KIN_TRY([[maybe_unused]] const auto applied, shard_->apply(records));
  return Done{};
}

Reply<Response> ShardHost::answer(const TakeRequest& request, const CallOptions&) {
  const std::lock_guard lock(writing_);
  KIN_TRY(MoveRow row, part_in(request.move));
  if (row.state != State::kReceiving)
    return Error{Code::kFailedPrecondition, "the shard does not receive the partition"};
  cleared_.erase(request.move.partition);
  KIN_RETURN_IF_ERROR(take_records(request.records));
  const MoveProgress before = std::exchange(row.progress, request.progress);
  row.progress.ready = false;
  row.progress.lsn = std::max(row.progress.lsn, before.lsn);
  row.progress.bytes = std::max(row.progress.bytes, before.bytes);
  KIN_RETURN_IF_ERROR(keep(request.move, row, request.places));
  return done(progress_of(row));
}

Result<MoveProgress> ShardHost::progress_in(const MoveName& move) {
  const std::lock_guard lock(writing_);
  KIN_TRY(const MoveRow row, part_in(move));
  if (row.state != State::kReceiving)
    return Error{Code::kFailedPrecondition, "the shard does not receive the partition"};
  return progress_of(row);
}

Result<MoveProgress> ShardHost::take_page(const MoveName& move,
                                          const std::optional<std::string>& after,
                                          index::ExportPage page) {
  const std::lock_guard lock(writing_);
  KIN_TRY(MoveRow row, part_in(move));
  if (row.state != State::kReceiving)
    return Error{Code::kFailedPrecondition, "the shard does not receive the partition"};
  if (row.progress.copied || row.progress.next != after) return progress_of(row);
  cleared_.erase(move.partition);
  KIN_RETURN_IF_ERROR(take_records(page.records));
  row.progress.copied = !page.next;
  row.progress.next = std::move(page.next);
  row.progress.entities += index::live_entities_in(page.records);
  row.progress.bytes += index::size_of(page.records);
  KIN_RETURN_IF_ERROR(keep(move, row));
  return progress_of(row);
}

// The next page is read while one is stored. Without a lock meanwhile: the source may ask this
// shard for a page of its own.
Reply<Response> ShardHost::answer(const PullRequest& request, const CallOptions& options) {
  if (!options.reach)
    return Error{Code::kFailedPrecondition, "the shard does not reach others (the router can)"};
  const std::shared_ptr<ShardClient> source = options.reach(request.source);
  const CallOptions how{
      .map_epoch = options.map_epoch, .shard = request.shard, .deadline = options.deadline};
  const auto has_clients = [&] { return options.pace != nullptr && options.pace->has_clients(); };
  const auto begin_page = [&](const std::optional<std::string>& after) {
    return start(
        *source,
        CopyRequest{.move = request.move,
                    .after = after,
                    .limit = request.limit,
                    .bytes = has_clients() ? std::min(request.bytes, kShortPage) : request.bytes},
        how);
  };
  const SteadyTime end = clock_.steady_now() + kLongestCall;
  KIN_TRY(MoveProgress progress, progress_in(request.move));
  if (progress.copied) return done(std::move(progress));
  const std::uint64_t most = progress.bytes + request.pull;
  for (auto under_way = begin_page(progress.next);;) {
    KIN_TRY(auto reply, under_way.wait());
    auto* page = std::get_if<index::ExportPage>(&reply);
    if (page == nullptr) return Error{Code::kInternal, "a shard refused to copy a partition"};
    const std::optional<std::string> next = page->next;
    // As far as can be told now, another page is wanted.
    const bool goes_on =
        next && clock_.steady_now() < end && progress.bytes + index::size_of(page->records) < most;
    // Both shards at once may leave clients no processor.
    const bool is_ahead = goes_on && !has_clients();
    if (is_ahead) under_way = begin_page(next);
    const SteadyTime begun = clock_.steady_now();
    KIN_TRY(progress, take_page(request.move, progress.next, std::move(*page)));
    const auto took = clock_.steady_now() - begun;
    const bool is_last = !goes_on || progress.copied || progress.next != next;
    if (!is_last && !is_ahead) under_way = begin_page(next);
    if (options.pace != nullptr) KIN_RETURN_IF_ERROR(options.pace->rest(took));
    if (is_last) return done(std::move(progress));
  }
}

Reply<Response> ShardHost::answer(const FollowRequest& request, const CallOptions&) {
  const bool is_fenced = !owns(request.move.partition);
  std::unique_lock lock(writing_, std::defer_lock);
  // Behind the fence the log of the partition has ended, so writers of others are not waited for.
  if (!request.after || !is_fenced) lock.lock();
  const std::string follower = follower_of(request.move);
  KIN_TRY(const MoveRow row, part_in(request.move));
  if (row.id != 0 && row.state != State::kSending)
    return Error{Code::kFailedPrecondition, "the shard receives the partition that it should send"};
  const Lsn last = shard_->view().lsn();
  if (row.id != 0 && !lock.owns_lock()) {
    KIN_TRY(auto page, log_page(request, last, false));
    return done(std::move(page));
  }
  const bool owned = owns(request.move.partition);
  if (row.id == 0) {
    if (request.after) return is_over(request.move);
    // An older move may have left a follower.
    KIN_RETURN_IF_ERROR(shard_->drop_follower(follower));
    KIN_RETURN_IF_ERROR(shard_->acknowledge(follower, last));
    KIN_RETURN_IF_ERROR(keep(request.move, {.id = request.move.id, .state = State::kSending}));
  }
  if (!request.after) {
    const index::Followers followers = shard_->stats().followers;
    const auto at = followers.find(follower);
    if (at == followers.end()) return is_over(request.move);
    return done(FollowPage{.up_to = at->second, .last = last, .owned = owned});
  }
  KIN_RETURN_IF_ERROR(shard_->acknowledge(follower, *request.after));
  lock.unlock();  // the page may contain more than `last`, and writers need not wait for it
  KIN_TRY(auto page, log_page(request, last, owned));
  return done(std::move(page));
}

Result<FollowPage> ShardHost::log_page(const FollowRequest& request, Lsn last, bool owned) const {
  KIN_TRY(auto page, index::read_log(shard_->view().truth(),
                                     {.after = *request.after,
                                      .partitions = Partitions{request.move.partition},
                                      .limit = request.limit,
                                      .bytes = request.bytes}));
  return FollowPage{
      .records = std::move(page.records), .up_to = page.up_to, .last = last, .owned = owned};
}

Reply<Response> ShardHost::answer(const CopyRequest& request, const CallOptions& options) {
  const bool is_short = options.pace != nullptr && options.pace->has_clients();
  const SteadyTime begun = clock_.steady_now();
  KIN_TRY(auto page,
          index::export_partition(
              shard_->view().truth(),
              {.partition = request.move.partition,
               .after = request.after,
               .limit = request.limit,
               .bytes = is_short ? std::min(request.bytes, kShortPage) : request.bytes}));
  if (options.pace != nullptr) KIN_RETURN_IF_ERROR(options.pace->rest(clock_.steady_now() - begun));
  return done(std::move(page));
}

Reply<Response> ShardHost::answer(const PlacesRequest& request, const CallOptions&) {
  std::optional<PlacesMark> mark;
  if (request.since && !request.after) {
    if (auto rest = directory_->added_since(request.move.partition, *request.since, request.limit))
      return done(std::move(*rest));
    mark = directory_->keep_added(request.move.partition, opened_ ^ request.move.id);
    const std::lock_guard lock(keeping_);
    kept_[request.move.partition].used = clock_.steady_now();
  }
  KIN_TRY(auto page, directory_->export_places(request));
  page.mark = mark;
  return done(std::move(page));
}

Reply<Response> ShardHost::answer(const DigestRequest& request, const CallOptions& options) {
  if (request.kept && !is_copy_) {
    KIN_TRY(const index::KeptDigest kept, kept_digest(request, options));
    KIN_TRY(const Hash128 places, directory_->keep_digest(request.partition));
    return done(DigestReply{.digest = kept.digest(), .places = places, .lsn = kept.lsn()});
  }
  const index::ShardView view = shard_->view();
  KIN_TRY(auto digest, index::digest_partition(view.truth(), request.partition));
  KIN_TRY(const Hash128 places, directory_->digest_places(request.partition));
  return done(DigestReply{.digest = digest, .places = places, .lsn = view.lsn()});
}

Result<bool> ShardHost::read_until(index::DigestReading& reading, SteadyTime deadline,
                                   Pace* pace) const {
  for (;;) {
    const SteadyTime begun = clock_.steady_now();
    KIN_TRY(const bool more, reading.step());
    if (!more || clock_.steady_now() >= deadline) return more;
    if (pace != nullptr) KIN_RETURN_IF_ERROR(pace->rest(clock_.steady_now() - begun));
  }
}

Result<index::KeptDigest> ShardHost::kept_digest(const DigestRequest& request,
                                                 const CallOptions& options) {
  const index::PartitionId partition = request.partition;
  std::shared_ptr<std::mutex> making;
  {
    const std::lock_guard lock(keeping_);
    Kept& kept = kept_[partition];
    kept.used = clock_.steady_now();
    making = kept.making;
  }
  const std::lock_guard turn(*making);
  std::optional<index::KeptDigest> known;
  std::optional<index::DigestReading> reading;
  std::uint64_t drops = 0;
  {
    const std::lock_guard lock(keeping_);
    drops = kept_drops_;
    if (const auto kept = kept_.find(partition); kept != kept_.end()) {
      known = kept->second.digest;
      reading = std::exchange(kept->second.reading, std::nullopt);
    }
  }
  const index::ShardView view = shard_->view();
  // Where the log is trimmed, or anything else is wrong, the whole partition is read.
  if (known && !known->advance(view).ok()) known.reset();
  if (!known) {
    const Error later{Code::kUnavailable,
                      "the partition was not read to its end in time (ask again)"};
    if (!reading) reading.emplace(view, partition);
    Pace* const pace = request.urgent ? nullptr : options.pace;
    KIN_TRY(const bool more, read_until(*reading, options.deadline, pace));
    if (more) {
      const std::lock_guard lock(keeping_);
      if (const auto kept = kept_.find(partition); kept != kept_.end() && kept_drops_ == drops)
        kept->second.reading = std::move(reading);
      return later;
    }
    known = reading->digest();
    if (!known->advance(view).ok()) return later;  // the log was trimmed meanwhile
    // A source prepares its fence by this. If it fails, searches are slower for a while.
    [[maybe_unused]] const Status kept_apart = shard_->keep_apart(partition);
  }
  const std::lock_guard lock(keeping_);
  if (const auto kept = kept_.find(partition); kept != kept_.end() && kept_drops_ == drops) {
    kept->second.digest = *known;
    kept->second.used = clock_.steady_now();
  }
  return std::move(*known);
}

void ShardHost::drop_kept(index::PartitionId partition) {
  {
    const std::lock_guard lock(keeping_);
    ++kept_drops_;
    kept_.erase(partition);
  }
  directory_->drop_kept(partition);
  // A shard that fails says so to its next writer.
  [[maybe_unused]] const Status joined = shard_->join_again(partition);
}

void ShardHost::drop_kept_before(SteadyTime used) {
  std::vector<index::PartitionId> idle;
  {
    const std::lock_guard lock(keeping_);
    for (const auto& [partition, kept] : kept_) {
      if (kept.used < used) idle.push_back(partition);
    }
  }
  for (const index::PartitionId partition : idle) drop_kept(partition);
}

Result<bool> ShardHost::end_move(const EndMoveRequest& request, std::size_t limit) {
  const std::lock_guard lock(writing_);
  const MoveName& move = request.move;
  const MoveRow known = newest_part(move.partition);
  // An older move ended when the newer one began.
  if (known.id > move.id) return false;
  const bool ended = known.id == move.id && known.state == State::kOver;
  if (!ended && !request.keep) {
    if (owns(move.partition))
      return Error{Code::kFailedPrecondition, "the shard owns the partition that it should remove"};
    KIN_TRY(const bool more, clear(move, limit));
    if (more) return true;
  }
  drop_kept(move.partition);
  if (!ended) KIN_RETURN_IF_ERROR(keep(move, {.id = move.id, .state = State::kOver}));
  KIN_RETURN_IF_ERROR(shard_->drop_follower(follower_of(move)));
  return false;
}

Reply<Response> ShardHost::answer(const EndMoveRequest& request, const CallOptions& options) {
  const auto piece = [&](std::size_t most) { return end_move(request, most); };
  KIN_TRY(const bool more, in_pieces(request.limit, options.pace, piece));
  return done(Forgotten{.more = more});
}

}  // namespace kin::router
