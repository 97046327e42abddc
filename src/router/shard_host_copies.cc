// A shard as a copy of another one, by its owner's shipped log.
#include <algorithm>

#include "router/shard_host.h"

namespace kin::router {
namespace {

std::vector<std::string_view> batches_of(const LogObject& object, LogStore store) {
  std::vector<std::string_view> batches;
  for (const LogBatch& batch : object.batches) {
    if (batch.store == store) batches.push_back(batch.bytes);
  }
  return batches;
}

Result<LogPosition> stored_position(const Result<std::optional<std::string>>& row) {
  if (!row.ok()) return row.error();
  if (!*row) return LogPosition{};
  return decode_log_position(**row);
}

}  // namespace

Status ShardHost::apply_shipped(const LogObject& object) {
  const std::lock_guard lock(writing_);
  const std::string position = encode(object.position);
  // A crash may have come between the two stores. Places come before the entities that are there.
  KIN_TRY(const LogPosition places, stored_position(directory_->shipped_position()));
  if (places < object.position)
    KIN_RETURN_IF_ERROR(
        directory_->apply_shipped(batches_of(object, LogStore::kDirectory), position));
  // Members are answered together before the first entity has another one. An end is learnt when
  // all rows are there.
  KIN_TRY(const auto part, directory_->repartition());
  if (part && part->state != RepartitionRow::State::kOver) {
    const std::lock_guard owning(owning_);
    repartition_ = *part;
  }
  KIN_TRY(const LogPosition things, stored_position(shard_->shipped_position()));
  if (things < object.position)
    KIN_RETURN_IF_ERROR(shard_->apply_shipped(batches_of(object, LogStore::kTruth), position));
  return learn_stores();
}

Status ShardHost::learn_stores() {
  KIN_TRY(auto moves, directory_->moves());
  index::Owners owners = shard_->stats().owners;
  KIN_TRY(auto part, directory_->repartition());
  KIN_TRY(const std::uint64_t divided, directory_->divided());
  drop_kept_before(SteadyTime::max());
  const std::lock_guard owning(owning_);
  moves_ = std::move(moves);
  owners_ = std::move(owners);
  repartition_ = std::move(part).value_or(RepartitionRow{});
  divided_ = divided;
  return Done{};
}

Result<std::optional<LogPosition>> ShardHost::shipped_position() const {
  KIN_TRY(const LogPosition places, stored_position(directory_->shipped_position()));
  KIN_TRY(const LogPosition things, stored_position(shard_->shipped_position()));
  const LogPosition both = std::min(places, things);
  return both == LogPosition{} ? std::nullopt : std::optional(both);
}

Status ShardHost::become_owner() {
  const std::lock_guard lock(writing_);
  if (!is_copy_) return Done{};
  shard_->become_owner();
  is_copy_ = false;
  KIN_RETURN_IF_ERROR(learn_stores());
  return end_received(owners_);
}

Status ShardHost::copy_rows(const std::filesystem::path& folder) {
  KIN_RETURN_IF_ERROR(shard_->copy_truth(folder / index::kTruthFolder));
  return directory_->copy_rows(folder / kDirectoryFolder);
}

}  // namespace kin::router
