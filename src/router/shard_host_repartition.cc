// Repartitions, on the side of the shard.
#include <algorithm>
#include <utility>

#include "index/draw.h"
#include "router/shard_host.h"

namespace kin::router {
namespace {

using State = RepartitionRow::State;

Reply<Response> done(Response response) {
  return std::variant<Response, Refused>(std::move(response));
}

Error is_over() {
  return {Code::kFailedPrecondition, "the repartition is over at this shard"};
}

Divided progress_of(const RepartitionRow& row) {
  Divided progress = row.progress;
  progress.done = row.state == State::kDivided;
  return progress;
}

}  // namespace

struct ShardHost::DividedPage {
  std::vector<index::Mutation> mutations = {};
  std::uint64_t looked = 0;
  RepartitionRow after = {};
};

Status ShardHost::learn_repartition() {
  KIN_TRY(auto part, directory_->repartition());
  KIN_TRY(const std::uint64_t divided, directory_->divided());
  const std::lock_guard lock(owning_);
  repartition_ = std::move(part).value_or(RepartitionRow{});
  divided_ = divided;
  return Done{};
}

Result<RepartitionRow> ShardHost::part_in_repartition(std::uint64_t id) const {
  const std::lock_guard lock(owning_);
  if (repartition_.id < id) return RepartitionRow{.id = 0};
  if (repartition_.id > id || repartition_.state == State::kOver) return is_over();
  return repartition_;
}

Status ShardHost::keep(const RepartitionRow& row) {
  KIN_RETURN_IF_ERROR(directory_->keep_repartition(row));
  const std::lock_guard lock(owning_);
  repartition_ = row;
  return Done{};
}

Status ShardHost::check_members(const Partitions& members, std::uint64_t epoch) const {
  const std::lock_guard lock(owning_);
  for (const index::PartitionId member : members) {
    const auto owner = owners_.find(member);
    if (owner == owners_.end() || !owner->second.owned || owner->second.epoch < epoch)
      return Error{Code::kFailedPrecondition,
                   "the shard was not told yet that it owns the partitions that it should divide"};
  }
  return Done{};
}

Reply<Response> ShardHost::answer(const SampleRequest& request, const CallOptions&) {
  if (request.limit == 0)
    return Error{Code::kInvalidArgument, "a sample must have a limit above 0"};
  const index::ShardView view = shard_->view();
  KIN_TRY(const index::Draw draw,
          index::draw_entities(
              view.truth(),
              {.partitions = request.partitions, .limit = request.limit, .seed = request.seed}));
  std::vector<DocId> ids;
  for (const index::DrawnEntity& one : draw.entities) ids.push_back(one.id);
  KIN_TRY(auto entities, view.truth().get_many(ids, {.summaries = false}));
  VectorSample sample{.below = draw.below};
  for (std::size_t i = 0; i < entities.size(); ++i) {
    if (!entities[i]) continue;
    for (index::SpaceVector& vector : entities[i]->entity.vectors) {
      if (vector.space != request.space) continue;
      sample.vectors.push_back(std::move(vector.values));
      sample.partitions.push_back(draw.entities[i].partition);
      sample.lots.push_back(draw.entities[i].lot);
    }
  }
  return done(std::move(sample));
}

Result<std::shared_ptr<const Centroids>> ShardHost::centroids_of(const RepartitionRow& row) {
  const std::lock_guard lock(writing_);
  if (centroids_.second != nullptr && centroids_.first == row.centroids) return centroids_.second;
  KIN_TRY(const auto bytes, directory_->read_blob(row.centroids));
  if (!bytes) return Error{Code::kFailedPrecondition, "the shard does not have the new centroids"};
  KIN_TRY(Centroids read, Centroids::decode(*bytes));
  centroids_ = {row.centroids, std::make_shared<const Centroids>(std::move(read))};
  return centroids_.second;
}

Result<ShardHost::DividedPage> ShardHost::divide_page(const RepartitionRow& row,
                                                      std::size_t limit) {
  KIN_TRY(const auto centroids, centroids_of(row));
  const index::ShardView view = shard_->view();
  KIN_TRY(
      const index::ScanPage page,
      view.truth().scan(
          {.partition = row.at, .after = row.after, .limit = limit, .want = {.summaries = false}}));
  DividedPage divided{.looked = page.entities.size(), .after = row};
  for (const index::StoredEntity& one : page.entities) {
    for (const index::SpaceVector& vector : one.entity.vectors) {
      if (vector.space != centroids->space()) continue;
      KIN_TRY(const index::PartitionId nearest, centroids->nearest_of(vector.values, row.members));
      if (nearest != row.at)
        divided.mutations.emplace_back(
            index::AssignPartition{.id = one.entity.id, .partition = nearest});
    }
  }
  divided.after.state = State::kDividing;
  divided.after.after = page.next;
  if (page.next) return divided;
  const auto next = row.members.upper_bound(row.at);
  if (next == row.members.end())
    divided.after.state = State::kDivided;
  else
    divided.after.at = *next;
  return divided;
}

Reply<Response> ShardHost::answer(const DivideRequest& request, const CallOptions&) {
  if (request.members.empty() || request.id == 0)
    return Error{Code::kInvalidArgument, "a repartition has an id and members"};
  RepartitionRow row;
  {
    const std::lock_guard lock(writing_);
    KIN_TRY(row, part_in_repartition(request.id));
    if (row.id == 0) {
      row = {.id = request.id,
             .state = State::kOpened,
             .members = request.members,
             .centroids = request.centroids,
             .at = *request.members.begin()};
      KIN_RETURN_IF_ERROR(keep(row));
    }
    if (row.members != request.members || row.centroids != request.centroids)
      return Error{Code::kInvalidArgument, "the repartition was begun with other members"};
  }
  if (request.limit == 0 || row.state == State::kDivided) return done(progress_of(row));
  KIN_RETURN_IF_ERROR(check_members(row.members, request.epoch));
  // Writers do not wait while the page is read. A vector that changes meanwhile has the place of
  // the one before.
  KIN_TRY(DividedPage page, divide_page(row, request.limit));
  const std::lock_guard lock(writing_);
  KIN_TRY(const RepartitionRow now, part_in_repartition(request.id));
  if (now != row) return done(progress_of(now));  // another request did this page
  KIN_RETURN_IF_ERROR(check_members(row.members, request.epoch));
  if (!page.mutations.empty()) {
    KIN_TRY([[maybe_unused]] const auto applied, shard_->apply(page.mutations));
  }
  page.after.progress.looked += page.looked;
  page.after.progress.moved += page.mutations.size();
  KIN_RETURN_IF_ERROR(keep(page.after));
  return done(progress_of(page.after));
}

Reply<Response> ShardHost::answer(const LabelsRequest& request, const CallOptions&) {
  KIN_TRY(const RepartitionRow row, part_in_repartition(request.id));
  if (row.state != State::kDivided)
    return Error{Code::kFailedPrecondition, "the shard has not divided the partitions yet"};
  if (request.limit == 0) return Error{Code::kInvalidArgument, "a page must have a limit above 0"};
  KIN_TRY(index::PartitionIds page,
          index::partition_ids(
              shard_->view().truth(),
              {.partition = request.partition, .after = request.after, .limit = request.limit}));
  return done(Labels{.ids = std::move(page.ids), .next = page.next});
}

Reply<Response> ShardHost::answer(const PlaceRequest& request, const CallOptions& options) {
  Partitions homes;
  for (const Claim& claim : request.claims) homes.insert(claim.home);
  const std::lock_guard lock(writing_);
  if (const auto why = refusal(homes, options)) return std::variant<Response, Refused>(*why);
  KIN_RETURN_IF_ERROR(directory_->place(request));
  return done(PlacesKept{});
}

Reply<Response> ShardHost::answer(const EndDivideRequest& request, const CallOptions&) {
  const std::lock_guard lock(writing_);
  RepartitionRow row;
  {
    const std::lock_guard owning(owning_);
    row = repartition_;
  }
  // An older one ended when the newer one began.
  if (row.id > request.id || (row.id == request.id && row.state == State::kOver))
    return done(DivideEnded{});
  // Later owners are other maps' business: the shard knows of them by higher epochs.
  {
    const std::lock_guard owning(owning_);
    for (const index::PartitionId member : request.members) {
      const auto owner = owners_.find(member);
      const std::uint64_t known = owner == owners_.end() ? 0 : owner->second.epoch;
      if (known < request.epoch)
        return Error{Code::kFailedPrecondition,
                     "the shard was not told yet that the repartition is over"};
    }
  }
  KIN_RETURN_IF_ERROR(keep(RepartitionRow{.id = request.id}));
  centroids_ = {};
  return done(DivideEnded{});
}

}  // namespace kin::router
