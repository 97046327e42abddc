#include "router/moves/repartition_step.h"

#include <algorithm>
#include <limits>
#include <map>
#include <span>
#include <utility>

#include "router/placement/cells.h"

namespace kin::router {
namespace {

using Phase = RepartitionPhase;

// Vectors of a sample, for each cell, and in all.
constexpr std::size_t kSampledPerCell = 512;
constexpr std::size_t kMostSampled = 8'192;
// Vectors of all shards, to measure with. A shard gives up to so many times its share of them.
constexpr std::size_t kMeasured = 8'192;
constexpr std::size_t kMostOfOne = 2;

std::size_t place_of(index::PartitionId partition) {
  return static_cast<std::size_t>(partition);
}

Error refused() {
  return {Code::kUnavailable, "a shard refused a request of a repartition by this map"};
}

// One sample of all shards, in random order, with the partitions that vectors are in when the
// members are divided. Empty if a node is too old to tell of partitions.
Result<PlacedVectors> placed_after(std::span<VectorSample> samples, const Centroids& divided,
                                   const Partitions& members) {
  struct Drawn {
    std::uint64_t lot = 0;
    index::PartitionId partition{};
    std::vector<float>* vector = nullptr;
  };
  std::vector<Drawn> drawn;
  std::uint64_t below = std::numeric_limits<std::uint64_t>::max();
  for (VectorSample& sample : samples) {
    if (sample.partitions.size() != sample.vectors.size() ||
        sample.lots.size() != sample.vectors.size())
      return PlacedVectors{};
    below = std::min(below, sample.below);
    for (std::size_t i = 0; i < sample.vectors.size(); ++i)
      drawn.push_back(
          {.lot = sample.lots[i], .partition = sample.partitions[i], .vector = &sample.vectors[i]});
  }
  std::erase_if(drawn, [&](const Drawn& one) { return one.lot >= below; });
  std::ranges::stable_sort(drawn, {}, &Drawn::lot);
  PlacedVectors placed;
  for (const Drawn& one : drawn) {
    index::PartitionId partition = one.partition;
    if (members.contains(partition)) {
      KIN_TRY(partition, divided.nearest_of(*one.vector, members));
    }
    KIN_TRY(auto vector, divided.prepared(*one.vector));
    placed.vectors.push_back(std::move(vector));
    placed.partitions.push_back(static_cast<std::uint32_t>(partition));
  }
  return placed;
}

}  // namespace

Status RepartitionStep::read(const MetaValue& map) {
  KIN_TRY(map_, decode_shard_map(map.bytes));
  if (made_.shard >= map_.shards.size())
    return Error{Code::kDataLoss, "a stored repartition does not fit the map of its index"};
  return Done{};
}

Result<StepOutcome> RepartitionStep::run() {
  // Revisions of the meta store only grow, and no two repartitions have the same.
  if (made_.id == 0) {
    Repartition after = made_;
    after.id = stored_.revision;
    return write(after);
  }
  switch (made_.phase) {
    case Phase::kLearning: return learn();
    case Phase::kOpening: return open();
    case Phase::kDividing: return divide();
    case Phase::kPlacing: return place();
    case Phase::kSettling: return settle();
    case Phase::kClosing: return close();
    case Phase::kAborting: return undo();
    case Phase::kDone:
    case Phase::kFailed: return StepOutcome::idle();
  }
  KIN_UNREACHABLE();
}

bool RepartitionStep::is_open() const {
  return map_.dividing && map_.dividing->repartition == made_.id;
}

bool RepartitionStep::is_as_begun() const {
  return std::ranges::all_of(made_.members, [&](index::PartitionId member) {
    if (place_of(member) >= map_.partitions.size())
      return made_.partitions != 0 && map_.partitions.size() == made_.partitions;
    const PartitionOwner& owner = map_.partitions[place_of(member)];
    return owner.shard == made_.shard && owner.epoch <= made_.epoch;
  });
}

Result<Centroids> RepartitionStep::centroids_of_map() {
  if (!map_.centroids)
    return Error{Code::kFailedPrecondition, "the index has no centroids any more"};
  const ReadBlobRequest wanted{.hash = *map_.centroids};
  KIN_TRY(Blob blob, ask(made_.shard, wanted));
  // A shard that joined while centroids were learnt may lack them.
  for (std::uint32_t shard = 0; !blob.bytes && shard < map_.shards.size(); ++shard) {
    KIN_TRY(blob, ask(shard, wanted));
  }
  if (!blob.bytes)
    return Error{Code::kFailedPrecondition, "no shard has the centroids of the index"};
  return Centroids::decode(*blob.bytes);
}

Result<Partitions> RepartitionStep::numbers_for_added(const Centroids& centroids) const {
  Partitions numbers;
  KIN_TRY(const auto moves, read_moves(mover_.meta_, mover_.index_));
  const auto moves_now = [&](index::PartitionId one) {
    return std::ranges::any_of(moves, [&](const Move& move) {
      return move.partition == one && !rule_of(move.phase).over;
    });
  };
  const auto count = static_cast<std::uint32_t>(map_.partitions.size());
  for (std::uint32_t i = 0; i < count && numbers.size() < made_.added; ++i) {
    const index::PartitionId one{i};
    const PartitionOwner& owner = map_.partitions[i];
    const bool is_free = owner.shard == made_.shard && owner.epoch <= map_.epoch &&
                         !centroids.has_centroid(one) && !made_.members.contains(one) &&
                         !moves_now(one);
    if (is_free) numbers.insert(one);
  }
  for (std::uint32_t i = count; numbers.size() < made_.added; ++i)
    numbers.insert(index::PartitionId{i});
  return numbers;
}

Result<NewCells> RepartitionStep::learn_cells_of(const Centroids& before,
                                                 const Repartition& after) {
  const std::size_t cells = after.members.size();
  KIN_TRY(const VectorSample given,
          ask(made_.shard,
              SampleRequest{
                  .partitions = made_.members,
                  .space = before.space(),
                  .limit = std::min(kMostSampled, std::max<std::size_t>(4 * kSampledPerCell,
                                                                        kSampledPerCell * cells)),
                  .seed = made_.id}));
  std::vector<std::vector<float>> sample;
  for (const auto& vector : given.vectors) {
    KIN_TRY(auto one, before.prepared(vector));
    sample.push_back(std::move(one));
  }
  // A member without a centroid gets one only if it is an added one.
  std::vector<index::PartitionId> order;
  CellsToLearn wanted{.added = after.added, .seed = made_.id};
  for (const index::PartitionId member : made_.members) {
    const auto centre = before.centre_of(member);
    if (centre.empty() || after.retired.contains(member)) continue;
    order.push_back(member);
    wanted.centres.emplace_back(centre.begin(), centre.end());
  }
  for (const index::PartitionId member : after.members) {
    if (!made_.members.contains(member)) order.push_back(member);
  }
  if (order.empty())
    return Error{Code::kFailedPrecondition,
                 "none of the partitions that stay has a centroid: they were merged into others"};
  const LearntCells learnt = learn_cells(sample, wanted);
  if (learnt.centres.size() < order.size())
    return Error{Code::kFailedPrecondition,
                 "the partitions have too few different vectors to be divided"};
  NewCells made{.members = after.members};
  for (std::size_t i = 0; i < order.size(); ++i) {
    made.centres[order[i]] = learnt.centres[i];
    made.sizes[order[i]] = learnt.sizes[i];
  }
  return made;
}

Result<Centroids> RepartitionStep::measured(const Centroids& divided, const Partitions& members) {
  std::vector<Started<VectorSample>> asked;
  for (std::uint32_t shard = 0; shard < map_.shards.size(); ++shard) {
    const Partitions partitions = map_.partitions_of(shard);
    if (partitions.empty()) continue;
    asked.push_back(start(
        mover_.client(map_.shards[shard]),
        SampleRequest{.partitions = partitions,
                      .space = divided.space(),
                      .limit = std::min(kMeasured, kMostOfOne * kMeasured / map_.shards.size() + 1),
                      // Others than cells were learnt from, so that they say how these fit.
                      .seed = ~made_.id},
        call_options(shard)));
  }
  std::vector<VectorSample> samples;
  for (auto& one : asked) {
    KIN_TRY(auto reply, one.wait());
    auto* sample = std::get_if<VectorSample>(&reply);
    if (sample == nullptr) return refused();
    samples.push_back(std::move(*sample));
  }
  KIN_TRY(const PlacedVectors sample, placed_after(samples, divided, members));
  std::vector<PartitionOwner> owners = map_.partitions;
  owners.resize(std::max(owners.size(), divided.size()), {.shard = made_.shard});
  return divided.measured(sample, owners, made_.id);
}

Status RepartitionStep::store_blob(const std::string& bytes) {
  const Hash128 hash = hash128(bytes);
  for (std::uint32_t shard = 0; shard < map_.shards.size(); ++shard) {
    // A node that was drained may be gone for good.
    const bool owns_nothing = map_.partitions_of(shard).empty();
    const auto stored = ask(shard, StoreBlobRequest{.hash = hash, .bytes = bytes});
    if (!stored.ok() && !owns_nothing) return stored.error();
  }
  return Done{};
}

Result<StepOutcome> RepartitionStep::learn() {
  if (!is_as_begun()) return give_up("a partition got another owner meanwhile");
  if (map_.dividing) return give_up("the map names another repartition");
  KIN_TRY(const Centroids before, centroids_of_map());
  Repartition after = made_;
  KIN_TRY(const Partitions numbers, numbers_for_added(before));
  after.members.insert(numbers.begin(), numbers.end());
  KIN_TRY(const NewCells cells, learn_cells_of(before, after));
  KIN_TRY(const Centroids divided, before.divided(cells));
  KIN_TRY(const Centroids measured_now, measured(divided, after.members));
  const std::string bytes = measured_now.encode();
  KIN_RETURN_IF_ERROR(store_blob(bytes));
  after.phase = Phase::kOpening;
  after.epoch = map_.epoch;
  after.partitions = static_cast<std::uint32_t>(map_.partitions.size());
  after.before = *map_.centroids;
  after.after = hash128(bytes);
  return write(after);
}

DivideRequest RepartitionStep::divide_request(std::size_t limit) const {
  std::uint64_t epoch = 0;
  if (is_open()) {
    epoch = map_.partitions[place_of(*made_.members.begin())].epoch;
    for (const index::PartitionId member : made_.members)
      epoch = std::min(epoch, map_.partitions[place_of(member)].epoch);
  }
  return {.id = made_.id,
          .members = made_.members,
          .centroids = made_.after,
          .epoch = epoch,
          .limit = limit};
}

Result<StepOutcome> RepartitionStep::open() {
  if (is_open()) return advance();
  if (!is_as_begun() || map_.dividing || map_.centroids != made_.before)
    return give_up("the map of the index changed meanwhile");
  KIN_TRY([[maybe_unused]] const Divided begun, ask(made_.shard, divide_request(0)));
  KIN_TRY(const bool changed, change_map([&](ShardMap& after) {
            // Homes are those of the map that the index was made with.
            if (after.homes == 0) after.homes = static_cast<std::uint32_t>(after.partitions.size());
            for (const index::PartitionId member : made_.members) {
              if (place_of(member) >= after.partitions.size())
                after.partitions.push_back({.shard = made_.shard});
            }
            after.centroids = made_.after;
            after.dividing = Dividing{.repartition = made_.id, .members = made_.members};
          }));
  if (!changed) return StepOutcome::worked();
  tell(made_.shard);
  return advance();
}

Result<StepOutcome> RepartitionStep::divide() {
  if (!is_open()) return behind();
  auto divided = ask(made_.shard, divide_request(mover_.options_.divided));
  if (!divided.ok()) {
    tell(made_.shard);
    return divided.error();
  }
  seen().progress = *divided;
  if (!divided->done) return StepOutcome::worked();
  Repartition after = made_;
  after.phase = Phase::kPlacing;
  after.terms = taken_terms(map_);
  return write(after);
}

Status RepartitionStep::send_places(index::PartitionId member, const std::vector<DocId>& ids) {
  std::map<std::uint32_t, PlaceRequest> by_shard;
  for (const DocId& id : ids) {
    const index::PartitionId home = map_.home_of(id);
    PlaceRequest& request = by_shard[map_.shard_of(home)];
    request.since = stored_.revision;
    request.claims.push_back({.id = id, .home = home, .partition = member});
  }
  for (auto& [shard, request] : by_shard) {
    auto placed = ask(shard, request);
    if (placed.ok()) continue;
    tell(shard);
    return placed.error();
  }
  return Done{};
}

// All of a round is sent by one mover: another one begins with the first page.
Result<StepOutcome> RepartitionStep::place() {
  if (!is_open()) return behind();
  if (taken_terms(map_) != made_.terms) {
    // What a shard was told may be lost with the process that it had.
    Repartition after = made_;
    after.phase = Phase::kDividing;
    return write(after);
  }
  auto& round = seen().placing;
  if (!round || round->revision != stored_.revision)
    round = {.revision = stored_.revision, .member = *made_.members.begin()};
  KIN_TRY(const Labels labels, ask(made_.shard, LabelsRequest{.id = made_.id,
                                                              .partition = round->member,
                                                              .after = round->after,
                                                              .limit = mover_.options_.page}));
  KIN_RETURN_IF_ERROR(send_places(round->member, labels.ids));
  seen().placed += labels.ids.size();
  round->after = labels.next;
  if (labels.next) return StepOutcome::worked();
  const auto next = made_.members.upper_bound(round->member);
  if (next == made_.members.end()) return advance();
  round->member = *next;
  return StepOutcome::worked();
}

Result<StepOutcome> RepartitionStep::settle() {
  if (!is_open()) return behind();
  const PartitionOwner& first = map_.partitions[place_of(*made_.members.begin())];
  if (map_.divided >= made_.epoch && map_.divided == first.epoch) return advance();
  if (taken_terms(map_) != made_.terms) {
    Repartition after = made_;
    after.phase = Phase::kDividing;
    return write(after);
  }
  auto& ends = seen().settles;
  if (!ends) ends = now() + mover_.options_.grace;
  if (now() < *ends) return StepOutcome::not_before(*ends);
  KIN_TRY(const bool changed, change_map([](ShardMap& after) { after.divided = after.epoch; }));
  if (!changed) return StepOutcome::worked();
  return advance();
}

Result<StepOutcome> RepartitionStep::close() {
  if (!is_open()) return advance();
  tell(made_.shard);
  KIN_TRY([[maybe_unused]] const DivideEnded ended,
          ask(made_.shard,
              EndDivideRequest{.id = made_.id, .members = made_.members, .epoch = map_.divided}));
  ShardMap after = map_;
  ++after.epoch;
  after.dividing.reset();
  KIN_TRY(const auto written, mover_.meta_.swap(map_key(mover_.index_), revision_, encode(after)));
  if (!written) return StepOutcome::worked();
  map_ = std::move(after);
  tell_all();
  return advance();
}

// So that followers answer where entities are, also if their owner goes away next.
void RepartitionStep::tell_all() {
  std::vector<Started<Assigned>> told;
  for (std::uint32_t shard = 0; shard < map_.shards.size(); ++shard)
    told.push_back(
        start(mover_.client(map_.shards[shard]), map_.assignment_of(shard), call_options(shard)));
  for (auto& one : told) [[maybe_unused]]
    const auto reply = one.wait();
}

// Another mover was faster: the record is older than the map.
StepOutcome RepartitionStep::behind() const {
  return StepOutcome::not_before(now() + mover_.options_.pause);
}

Result<StepOutcome> RepartitionStep::undo() {
  if (is_open()) {
    Repartition after = made_;
    after.phase = Phase::kDividing;
    after.reason.clear();
    return write(after);
  }
  // Somebody may be about to open it: then the members have another epoch than the one it knows.
  if (is_as_begun()) {
    KIN_TRY([[maybe_unused]] const bool changed, change_map([](ShardMap&) {}));
    return StepOutcome::worked();
  }
  KIN_TRY([[maybe_unused]] const DivideEnded ended,
          ask(made_.shard, EndDivideRequest{.id = made_.id, .members = made_.members}));
  return advance();
}

void RepartitionStep::give_epoch(ShardMap& map) const {
  for (const index::PartitionId member : made_.members) {
    if (place_of(member) < map.partitions.size() &&
        map.partitions[place_of(member)].shard == made_.shard)
      map.partitions[place_of(member)].epoch = map.epoch;
  }
}

// Above every fence that a move has written down by this map.
template <typename Change>
Result<bool> RepartitionStep::change_map(const Change& change) {
  ShardMap after = map_;
  after.epoch += 2;
  change(after);
  give_epoch(after);
  KIN_TRY(const auto written, mover_.meta_.swap(map_key(mover_.index_), revision_, encode(after)));
  if (!written) return false;
  map_ = std::move(after);
  return true;
}

Result<StepOutcome> RepartitionStep::advance() {
  Repartition after = made_;
  after.phase = rule_of(made_.phase).next;
  return write(after);
}

Result<StepOutcome> RepartitionStep::give_up(std::string reason) {
  Repartition after = made_;
  after.phase = Phase::kAborting;
  after.reason = std::move(reason);
  return write(after);
}

Result<StepOutcome> RepartitionStep::write(const Repartition& after) {
  // Where somebody else was faster, the next step goes on from what they wrote.
  KIN_TRY(const bool written, swap_repartition(mover_.meta_, mover_.index_, stored_, after));
  if (written && after.phase == Phase::kDone) ++mover_.counts_.divided;
  return StepOutcome::worked();
}

void RepartitionStep::tell(std::uint32_t shard) {
  [[maybe_unused]] const auto told = ask(shard, map_.assignment_of(shard));
}

CallOptions RepartitionStep::call_options(std::uint32_t shard) const {
  return {.map_epoch = map_.epoch,
          .shard = map_.identity_of(shard),
          .deadline = now() + mover_.options_.attempt};
}

template <typename Asked>
Result<typename Asked::Reply> RepartitionStep::ask(std::uint32_t shard, Asked request) {
  auto reply = call(mover_.client(map_.shards[shard]), std::move(request), call_options(shard));
  if (!reply.ok()) return with_context(map_.shards[shard], reply.error());
  if (auto* answer = std::get_if<typename Asked::Reply>(&*reply)) return std::move(*answer);
  return refused();
}

}  // namespace kin::router
