#include "router/testing/cluster_moves.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "router/testing/drawn_repartition.h"

namespace kin::router {

using std::chrono::milliseconds;

void ClusterMoves::step(std::size_t router) {
  while (!is_settled_) {
    const RouterPointer life = routers_.get(router);
    if (life == nullptr) return;
    const auto outcome = life->mover->step();
    const SteadyTime now = simulation_.now();
    const auto next = outcome.ok() ? outcome->next(now) : std::nullopt;
    const auto wait = next ? *next - now : std::chrono::nanoseconds{milliseconds{50}};
    simulation_.clock().sleep_for(std::max<std::chrono::nanoseconds>(wait, milliseconds{1}));
  }
}

void ClusterMoves::begin_any(Random& random) {
  const RouterPointer life = routers_.any(random);
  if (life == nullptr) return;
  const NewMove wanted{
      .partition = index::PartitionId{static_cast<std::uint32_t>(
          random.below(life->router->map().partitions.size()))},
      .target = static_cast<std::uint32_t>(random.below(options_.nodes + report_.joined))};
  const auto begun = begin_move(*life->meta, kSimulatedIndex, wanted);
  simulation_.note(fmt::format("move of partition {} to node{}{}",
                               static_cast<std::uint32_t>(wanted.partition), wanted.target,
                               begun.ok() ? "" : ": " + begun.error().message));
}

void ClusterMoves::abort_any(Random& random) {
  const RouterPointer life = routers_.any(random);
  if (life == nullptr) return;
  const auto moves = read_moves(*life->meta, kSimulatedIndex);
  if (!moves.ok()) return;
  for (const Move& move : *moves) {
    if (!rule_of(move.phase).can_abort) continue;
    const auto aborted = abort_move(*life->meta, kSimulatedIndex, move.partition, "as asked");
    return simulation_.note(fmt::format(
        "abort of the move of partition {} while {}{}", static_cast<std::uint32_t>(move.partition),
        name_of(move.phase), aborted.ok() ? "" : ": " + aborted.error().message));
  }
}

// Entities without a vector are in their home partition, so this one has everything: entities,
// edges, tombstones and directory entries.
void ClusterMoves::move_first_key() {
  simulation_.clock().sleep_for(milliseconds{500});
  const RouterPointer life = routers_.get(0);
  if (life == nullptr) return;
  const ShardMap map = life->router->map();
  const index::PartitionId partition = map.home_of(key_id(0));
  const auto target = static_cast<std::uint32_t>((map.shard_of(partition) + 1) % map.shards.size());
  const auto begun =
      begin_move(*life->meta, kSimulatedIndex, {.partition = partition, .target = target});
  KIN_CHECK(begun.ok(), begun.ok() ? "" : begun.error().message.c_str());
  has_begun_ = true;
}

void ClusterMoves::begin_any_repartition(Random& random) {
  const RouterPointer life = routers_.any(random);
  if (life == nullptr) return;
  const NewRepartition wanted = draw_repartition(life->router->map(), random);
  if (const auto last = read_repartition(*life->meta, kSimulatedIndex); last.ok() && *last)
    count((**last).repartition);
  const auto begun = begin_repartition(*life->meta, kSimulatedIndex, wanted);
  simulation_.note(fmt::format("repartition of {}{}", name_of(wanted),
                               begun.ok() ? "" : ": " + begun.error().message));
}

void ClusterMoves::abort_any_repartition(Random& random) {
  const RouterPointer life = routers_.any(random);
  if (life == nullptr) return;
  const auto aborted = abort_repartition(*life->meta, kSimulatedIndex, "as asked");
  simulation_.note(fmt::format("abort of the repartition{}",
                               aborted.ok() ? "" : ": " + aborted.error().message));
}

// All partitions of the shard that has the first key which exists. Again, where the keys are
// removed before their vectors are looked at.
void ClusterMoves::divide_first_key() {
  for (;;) {
    simulation_.clock().sleep_for(milliseconds{300});
    const RouterPointer life = routers_.get(0);
    if (life == nullptr || !is_busy_()) return;
    const auto last = read_repartition(*life->meta, kSimulatedIndex);
    if (!last.ok()) continue;
    if (*last && (**last).repartition.phase == RepartitionPhase::kDone) return;
    if (*last && !rule_of((**last).repartition.phase).over) continue;
    std::vector<DocId> ids;
    for (std::size_t key = 0; key < options_.keys; ++key) ids.push_back(key_id(key));
    const auto found = life->router->get(ids);
    if (!found.ok()) continue;
    const auto entity =
        std::ranges::find_if(*found, [](const auto& one) { return one.has_value(); });
    if (entity == found->end()) continue;
    const ShardMap map = life->router->map();
    has_begun_ =
        begin_repartition(
            *life->meta, kSimulatedIndex,
            {.partitions = map.partitions_of(map.shard_of((*entity)->head.partition)), .added = 1})
            .ok() ||
        has_begun_;
  }
}

void ClusterMoves::move_all_the_time() {
  for (std::uint32_t target = 0; is_busy_(); target = (target + 1) % options_.nodes) {
    const RouterPointer life = routers_.get(0);
    if (life == nullptr) return;
    [[maybe_unused]] const auto begun =
        begin_move(*life->meta, kSimulatedIndex,
                   {.partition = life->router->map().home_of(key_id(0)), .target = target});
    simulation_.clock().sleep_for(milliseconds{20});
  }
}

void ClusterMoves::count(const Repartition& repartition) {
  if (!rule_of(repartition.phase).over || !counted_.insert(repartition.id).second) return;
  ++(repartition.phase == RepartitionPhase::kDone ? report_.divided : report_.undone);
}

void ClusterMoves::settle_repartition() {
  std::optional<StoredRepartition> last;
  for (int tries = 0; tries < 600; ++tries) {
    const RouterPointer life = routers_.get(0);
    if (life == nullptr) return;
    auto read = read_repartition(*life->meta, kSimulatedIndex);
    if (read.ok()) last = std::move(*read);
    if (read.ok() && (!last || rule_of(last->repartition.phase).over)) break;
    simulation_.clock().sleep_for(milliseconds{100});
  }
  if (last && !rule_of(last->repartition.phase).over)
    clients_.violate(fmt::format("a repartition is {} for ever", name_of(last->repartition.phase)));
  if (last) count(last->repartition);
}

void ClusterMoves::settle_moves() {
  std::vector<Move> moves;
  for (int tries = 0; tries < 600; ++tries) {
    const RouterPointer life = routers_.get(0);
    if (life == nullptr) return;
    auto read = read_moves(*life->meta, kSimulatedIndex);
    const auto is_over = [](const Move& move) { return rule_of(move.phase).over; };
    if (read.ok()) moves = std::move(*read);
    if (read.ok() && std::ranges::all_of(moves, is_over)) break;
    simulation_.clock().sleep_for(milliseconds{100});
  }
  for (const Move& move : moves) {
    report_.moved += move.phase == MovePhase::kDone ? 1 : 0;
    report_.aborted += move.phase == MovePhase::kFailed ? 1 : 0;
    if (!rule_of(move.phase).over)
      clients_.violate(fmt::format("the move of partition {} is {} for ever",
                                   static_cast<std::uint32_t>(move.partition),
                                   name_of(move.phase)));
  }
}

void ClusterMoves::settle() {
  settle_moves();
  if (options_.divides) settle_repartition();
  is_settled_ = true;
}

}  // namespace kin::router
