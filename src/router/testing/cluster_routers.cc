#include "router/testing/cluster_routers.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace kin::router {

using std::chrono::milliseconds;

SimulatedServer* find_node(const SimulatedNodes& nodes, const std::string& name) {
  const auto node = std::ranges::find(nodes, name, [](const auto& one) { return one->name(); });
  return node == nodes.end() ? nullptr : node->get();
}

Connect ClusterRouters::connect_from(Process process) {
  return [this, process](const std::string& address) -> std::shared_ptr<ShardClient> {
    return std::make_shared<SimulatedClient>(simulation_, network_, process,
                                             *find_node(nodes_, address));
  };
}

void ClusterRouters::kill(std::size_t number) {
  const auto life = std::exchange(lives_[number], nullptr);
  if (life == nullptr) return;
  simulation_.note(fmt::format("router{} is killed", number));
  network_.stop_process(life->process);
}

RouterOptions ClusterRouters::router_options() {
  const auto on_follower = [this](FollowerAsked why, FollowerEvent event) {
    if (why != FollowerAsked::kSlow) return;
    ++(event == FollowerEvent::kAsked ? report_.hedges : report_.hedges_won);
  };
  return {.clock = &simulation_.clock(),
          .timeout = milliseconds{4'000},
          .attempt = milliseconds{300},
          .pause = milliseconds{20},
          .hedge = milliseconds{60},
          .hedging = {.slow = 0.4, .least = milliseconds{1}, .known_calls = 2, .budget = 1},
          .on_follower = on_follower,
          .text = index::text_options(index::ShardOptions{})};
}

MoverOptions ClusterRouters::mover_options() const {
  return {.clock = &simulation_.clock(),
          .attempt = milliseconds{300},
          .pause = milliseconds{50},
          .grace = milliseconds{100},
          .patience = milliseconds{1'500},
          .yield = milliseconds{150},
          .page = options_.contended ? 50U : 1 + options_.seed % 3,
          .pull_bytes = options_.seed % 3 == 0 ? kPageBytes : 600U,
          .removed = 3,
          .divided = 2};
}

RouterPointer ClusterRouters::try_open(std::size_t number) {
  auto life = std::make_shared<RouterLife>();
  life->process = network_.start_process(fmt::format("router{}", number));
  life->meta = std::make_unique<SimulatedMeta>(simulation_, network_, life->process, meta_);
  auto opened =
      Router::open(kSimulatedIndex, *life->meta, connect_from(life->process), router_options());
  if (!opened.ok()) return nullptr;
  life->router = std::move(*opened);
  const auto stop = [this, number] { kill(number); };
  const MoverWatch watch{
      .before = [this, stop](const std::string& peer) { watch_.before_call(stop, peer); },
      .sabotage = options_.sabotage};
  life->watched = std::make_unique<WatchedMeta>(*life->meta, watch);
  life->mover =
      std::make_unique<Mover>(kSimulatedIndex, *life->watched,
                              watched(connect_from(life->process), watch), mover_options());
  return life;
}

RouterPointer ClusterRouters::get(std::size_t number) {
  for (int tries = 0; lives_[number] == nullptr; ++tries) {
    if (is_over_) return nullptr;
    if (tries > 600) watch_.violate(fmt::format("router{} cannot be opened for ever", number));
    if (report_.violation) return nullptr;
    // One client at a time opens it; the others wait.
    if (!opening_[number]) {
      opening_[number] = true;
      lives_[number] = try_open(number);
      opening_[number] = false;
    }
    if (lives_[number] == nullptr) simulation_.clock().sleep_for(milliseconds{100});
  }
  return lives_[number];
}

}  // namespace kin::router
