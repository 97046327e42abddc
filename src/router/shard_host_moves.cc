// Moves of partitions, on the sides of the source and the target.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "router/shard_host.h"

namespace kin::router {
namespace {

using State = MoveRow::State;

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
  KIN_TRY(moves_, directory_->moves());
  if (is_copy_) return Done{};
  return end_received(owners_);
}

bool ShardHost::owns(index::PartitionId partition) const {
  const std::lock_guard lock(owning_);
  const auto owner = owners_.find(partition);
  return owner != owners_.end() && owner->second.owned;
}

Result<MoveRow> ShardHost::part_in(const MoveName& move) const {
  const auto known = moves_.find(move.partition);
  if (known == moves_.end() || known->second.id < move.id) return MoveRow{.id = 0};
  if (known->second.id > move.id || known->second.state == State::kOver) return is_over(move);
  return known->second;
}

Status ShardHost::keep(const MoveName& move, const MoveRow& row, std::span<const Placed> places) {
  KIN_RETURN_IF_ERROR(directory_->keep_move(move.partition, row, places));
  moves_[move.partition] = row;
  return Done{};
}

Status ShardHost::end_received(const index::Owners& owners) {
  for (auto& [partition, row] : moves_) {
    const auto owner = owners.find(partition);
    const bool receives = row.state == State::kClearing || row.state == State::kReceiving;
    if (!receives || owner == owners.end() || !owner->second.owned) continue;
    KIN_RETURN_IF_ERROR(keep({row.id, partition}, {.id = row.id, .state = State::kOver}));
  }
  return Done{};
}

Result<bool> ShardHost::clear(index::PartitionId partition, std::size_t limit) {
  std::vector<DocId> ids;
  {
    const index::ShardView view = shard_->view();
    KIN_TRY(ids, index::partition_ids(view.truth(), {.partition = partition, .limit = limit}));
  }
  if (!ids.empty()) KIN_RETURN_IF_ERROR(shard_->forget(ids));
  if (ids.size() == limit) return true;
  KIN_RETURN_IF_ERROR(directory_->forget_places(partition));
  return false;
}

Reply<Response> ShardHost::answer(const ReceiveRequest& request, const CallOptions&) {
  const std::lock_guard lock(writing_);
  KIN_TRY(MoveRow row, part_in(request.move));
  if (owns(request.move.partition))
    return Error{Code::kFailedPrecondition, "the shard owns the partition that it should receive"};
  if (row.id == 0) {
    row = {.id = request.move.id, .state = State::kClearing};
    KIN_RETURN_IF_ERROR(keep(request.move, row));
  }
  if (row.state == State::kSending)
    return Error{Code::kFailedPrecondition, "the shard sends the partition that it should receive"};
  if (row.state == State::kClearing) {
    KIN_TRY(const bool more, clear(request.move.partition, request.limit));
    if (more) return done(MoveProgress{});
    row.state = State::kReceiving;
    KIN_RETURN_IF_ERROR(keep(request.move, row));
  }
  return done(progress_of(row));
}

Reply<Response> ShardHost::answer(const TakeRequest& request, const CallOptions&) {
  const std::lock_guard lock(writing_);
  KIN_TRY(MoveRow row, part_in(request.move));
  if (row.state != State::kReceiving)
    return Error{Code::kFailedPrecondition, "the shard does not receive the partition"};
  std::vector<index::Record> records;
  for (const index::Record& record : request.records) {
    // Owners come from maps alone.
    if (!std::holds_alternative<index::OwnerRecord>(record)) records.push_back(record);
  }
  if (!records.empty()) {
    KIN_TRY([[maybe_unused]] const auto applied, shard_->apply(records));
  }
  const MoveProgress before = std::exchange(row.progress, request.progress);
  row.progress.ready = false;
  row.progress.lsn = std::max(row.progress.lsn, before.lsn);
  row.progress.bytes = std::max(row.progress.bytes, before.bytes);
  KIN_RETURN_IF_ERROR(keep(request.move, row, request.places));
  return done(progress_of(row));
}

Reply<Response> ShardHost::answer(const FollowRequest& request, const CallOptions&) {
  std::unique_lock lock(writing_);
  const std::string follower = follower_of(request.move);
  KIN_TRY(const MoveRow row, part_in(request.move));
  if (row.id != 0 && row.state != State::kSending)
    return Error{Code::kFailedPrecondition, "the shard receives the partition that it should send"};
  const Lsn last = shard_->view().lsn();
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
  KIN_TRY(auto page, index::read_log(shard_->view().truth(),
                                     {.after = *request.after,
                                      .partitions = Partitions{request.move.partition},
                                      .limit = request.limit,
                                      .bytes = request.bytes}));
  return done(FollowPage{
      .records = std::move(page.records), .up_to = page.up_to, .last = last, .owned = owned});
}

Reply<Response> ShardHost::answer(const CopyRequest& request, const CallOptions&) {
  KIN_TRY(auto page, index::export_partition(shard_->view().truth(),
                                             {.partition = request.move.partition,
                                              .after = request.after,
                                              .limit = request.limit,
                                              .bytes = request.bytes}));
  return done(std::move(page));
}

Reply<Response> ShardHost::answer(const PlacesRequest& request, const CallOptions&) {
  KIN_TRY(auto page, directory_->export_places(request));
  return done(std::move(page));
}

Reply<Response> ShardHost::answer(const EndMoveRequest& request, const CallOptions&) {
  const std::lock_guard lock(writing_);
  const MoveName& move = request.move;
  const auto known = moves_.find(move.partition);
  // An older move ended when the newer one began.
  if (known != moves_.end() && known->second.id > move.id) return done(Forgotten{});
  const bool ended = known != moves_.end() && known->second.id == move.id &&
                     known->second.state == State::kOver;
  if (!ended && !request.keep) {
    if (owns(move.partition))
      return Error{Code::kFailedPrecondition, "the shard owns the partition that it should remove"};
    KIN_TRY(const bool more, clear(move.partition, request.limit));
    if (more) return done(Forgotten{.more = true});
  }
  if (!ended) KIN_RETURN_IF_ERROR(keep(move, {.id = move.id, .state = State::kOver}));
  KIN_RETURN_IF_ERROR(shard_->drop_follower(follower_of(move)));
  return done(Forgotten{});
}

}  // namespace kin::router
