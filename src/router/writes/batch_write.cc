#include "router/writes/batch_write.h"

#include <algorithm>

namespace kin::router {
namespace {

using index::Effect;

// The entity that a mutation belongs to; null for one that a router does not take.
struct EntityOf {
  const DocId* operator()(const index::PutEntity& put) const { return &put.entity.id; }
  const DocId* operator()(const index::RemoveEntity& remove) const { return &remove.id; }
  const DocId* operator()(const index::AssignPartition&) const { return nullptr; }
  const DocId* operator()(const index::AssignOwner&) const { return nullptr; }
  const DocId* operator()(const index::PutEdge& put) const { return &put.edge.id.from; }
  const DocId* operator()(const index::SetEdges& set) const { return &set.from; }
  const DocId* operator()(const index::CloseEdge& close) const { return &close.from; }
  const DocId* operator()(const index::RemoveEdge& remove) const { return &remove.edge.from; }
  const DocId* operator()(const index::AddFragment& add) const { return &add.id; }
  const DocId* operator()(const index::AddEdgeFragment& add) const { return &add.from; }
};

const DocId& entity_of(const index::Mutation& mutation) {
  return *std::visit(EntityOf{}, mutation);
}

// The outcome of a mutation that was applied before its shard restarted. Putting and removing
// entities always ends in the requested state; the outcome of other mutations is unknown.
std::optional<index::Outcome> forgotten_outcome(const index::Mutation& mutation) {
  if (std::holds_alternative<index::PutEntity>(mutation) ||
      std::holds_alternative<index::RemoveEntity>(mutation))
    return index::Outcome{.effect = Effect::kDone};
  return {};
}

}  // namespace

Result<Written> BatchWrite::run() {
  written_.outcomes.resize(mutations_.size());
  first_age_ = shards_.next_ages(mutations_.size());
  decided_.assign(mutations_.size(), false);
  for (const index::Mutation& mutation : mutations_) {
    KIN_RETURN_IF_ERROR(index::check(mutation));
    if (std::visit(EntityOf{}, mutation) == nullptr)
      return Error{Code::kInvalidArgument, "partitions are assigned by the router"};
  }
  MapPauses pauses(shards_.options());
  for (;;) {
    known_ = shards_.known();
    KIN_TRY(const bool again, attempt());
    if (!again) return std::move(written_);
    Status current = shards_.refresh();
    if (current.ok() && shards_.is_over(deadline_))
      current = Error{Code::kUnavailable, "the map of the index changed during the write"};
    if (!current.ok()) {
      // Earlier writes of the batch are not undone.
      written_.problems.push_back({.error = current.error()});
      return std::move(written_);
    }
    if (shards_.known() == known_) pauses.sleep();
  }
}

Result<index::PartitionId> BatchWrite::partition_for(const index::Entity& entity) const {
  const Centroids* centroids = known_->centroids.get();
  if (centroids == nullptr) return known_->map.home_of(entity.id);
  for (const index::SpaceVector& vector : entity.vectors) {
    if (vector.space == centroids->space()) return centroids->nearest(vector.values);
  }
  const auto& source = shards_.options().source;
  if (source == nullptr) return known_->map.home_of(entity.id);
  const index::SourceText text{.title = entity.title, .text = entity.text};
  KIN_TRY(const auto made, source->documents(std::span(&text, 1)));
  if (made.empty() || made[0].empty()) return known_->map.home_of(entity.id);
  return centroids->nearest(made[0]);
}

Status BatchWrite::choose_partitions() {
  wanted_.assign(mutations_.size(), {});
  for (std::size_t i = 0; i < mutations_.size(); ++i) {
    const auto* put = std::get_if<index::PutEntity>(&mutations_[i]);
    if (put == nullptr || decided_[i] || shards_.place(known_, put->entity.id)) continue;
    KIN_TRY(wanted_[i], partition_for(put->entity));
  }
  return Done{};
}

Result<bool> BatchWrite::attempt() {
  KIN_RETURN_IF_ERROR(choose_partitions());
  PlacesFound found;
  place_all(found);
  const bool more = found.map_changed;
  return send(group(found)) || more;
}

void BatchWrite::place_all(PlacesFound& found) {
  std::vector<Wanted> wanted;
  std::vector<DocId> others;
  for (std::size_t i = 0; i < mutations_.size(); ++i) {
    if (decided_[i]) continue;
    if (wanted_[i])
      wanted.push_back({.id = entity_of(mutations_[i]), .partition = *wanted_[i]});
    else
      others.push_back(entity_of(mutations_[i]));
  }
  // First those that are put: what else is said about them in this batch finds them then.
  found = claim(shards_, known_, wanted, deadline_);
  std::erase_if(others, [&](const DocId& id) { return found.places.contains(id); });
  PlacesFound more = locate(shards_, known_, others, {deadline_});
  found.places.merge(more.places);
  found.unknown.merge(more.unknown);
  found.map_changed = found.map_changed || more.map_changed;
  if (found.map_changed) return;
  std::ranges::move(found.problems, std::back_inserter(written_.problems));
  std::ranges::move(more.problems, std::back_inserter(written_.problems));
}

std::vector<Ask<WriteRequest>> BatchWrite::group(const PlacesFound& found) {
  std::map<std::uint32_t, WriteRequest> by_shard;
  indexes_.clear();
  for (std::size_t i = 0; i < mutations_.size(); ++i) {
    if (decided_[i]) continue;
    const DocId& id = entity_of(mutations_[i]);
    const auto place = found.places.find(id);
    if (place == found.places.end()) {
      // Nobody ever put it, or the directory did not answer.
      const bool absent = !found.unknown.contains(id);
      if (absent) written_.outcomes[i] = index::Outcome{.effect = Effect::kAbsent};
      decided_[i] = absent || !found.map_changed;
      continue;
    }
    const std::uint32_t shard = known_->map.shard_of(place->second);
    WriteRequest& request = by_shard[shard];
    request.mutations.push_back(mutations_[i]);
    request.ages.push_back(first_age_ + i);
    if (auto* put = std::get_if<index::PutEntity>(&request.mutations.back()))
      put->partition = place->second;
    request.partitions.insert(place->second);
    indexes_[shard].push_back(i);
  }
  std::vector<Ask<WriteRequest>> asks;
  for (auto& [shard, request] : by_shard) asks.push_back({shard, std::move(request)});
  return asks;
}

bool BatchWrite::send(std::vector<Ask<WriteRequest>> asks) {
  std::vector<Ask<WriteRequest>> ready;
  std::vector<Lane> lanes;
  for (auto& ask : asks) {
    auto lane = shards_.take_lane(known_, ask.shard, deadline_);
    if (!lane.ok()) {
      fail(indexes_[ask.shard], ask.shard, lane.error());
      continue;
    }
    ask.request.id = {.session = lane->session, .sequence = lane->next++};
    lanes.push_back(*lane);
    ready.push_back(std::move(ask));
  }
  auto told = shards_.ask(known_, ready, {deadline_});
  bool again = false;
  for (std::size_t i = 0; i < ready.size(); ++i) {
    const bool lost_session = !told[i].reply.ok() && told[i].sent == 1 &&
                              told[i].reply.error().code == Code::kFailedPrecondition;
    // A session that the shard closed is left, and what was never applied is sent in another.
    if (!lost_session) shards_.give_back(known_, ready[i].shard, lanes[i]);
    if (told[i].map_changed)
      again = true;
    else if (lost_session && lanes[i].next > 2)
      again = true;
    else
      take(ready[i], indexes_[ready[i].shard], told[i]);
  }
  return again;
}

void BatchWrite::take(const Ask<WriteRequest>& ask, std::span<const std::size_t> indexes,
                      Told<WriteReply>& told) {
  if (!told.reply.ok()) return fail(indexes, ask.shard, told.reply.error());
  const WriteReply& reply = *told.reply;
  if (!reply.forgotten && reply.outcomes.size() != indexes.size())
    return fail(indexes, ask.shard, {Code::kInternal, "a shard answered about other mutations"});
  bool unknown = false;
  for (std::size_t i = 0; i < indexes.size(); ++i) {
    std::optional<index::Outcome>& outcome = written_.outcomes[indexes[i]];
    decided_[indexes[i]] = true;
    outcome = reply.forgotten ? forgotten_outcome(mutations_[indexes[i]]) : reply.outcomes[i];
    unknown = unknown || !outcome;
  }
  if (!unknown) return;
  written_.problems.push_back(shards_.problem(
      known_, ask.shard,
      {Code::kUnavailable, "the shard restarted and does not know what became of the request"}));
}

void BatchWrite::fail(std::span<const std::size_t> indexes, std::uint32_t shard,
                      const Error& error) {
  for (const std::size_t i : indexes) decided_[i] = true;
  written_.problems.push_back(shards_.problem(known_, shard, error));
}

}  // namespace kin::router
