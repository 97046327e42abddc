#include "router/testing/simulated_copies.h"

#include <fmt/format.h>

#include <algorithm>

namespace kin::router {

using std::chrono::milliseconds;

void SimulatedCopies::make(const std::string& shard, const index::ShardOptions& options,
                           std::vector<std::unique_ptr<SimulatedServer>>& nodes) {
  const auto objects = std::make_shared<cloud::SimulatedObjects::Bytes>();
  for (std::size_t copy = 0; copy <= options_.followers; ++copy) {
    SimulatedReplicaOptions replica{
        .name = copy == 0 ? shard : fmt::format("{}-copy{}", shard, copy),
        .index = kSimulatedIndex,
        .identity = hash128(shard),
        .first_owner = copy == 0,
        .shard = options,
        .lease = {.length = milliseconds{600},
                  .margin = milliseconds{150},
                  .renew = milliseconds{150},
                  .look = milliseconds{60},
                  .pause = milliseconds{50}},
        .objects = objects,
        .taken_over = [this] { ++report_.taken_over; }};
    const std::size_t number = replicas_.size();
    replica.before_call = [this, number](const std::string& peer) {
      crash(*replicas_[number], peer);
    };
    auto made = std::make_unique<SimulatedReplica>(simulation_, network_, meta_, replica);
    replicas_.push_back(made.get());
    nodes.push_back(std::move(made));
  }
}

std::optional<std::string> SimulatedCopies::await_owners() {
  const std::size_t copies = options_.followers + 1;
  for (std::size_t shard = 0; shard < replicas_.size() / copies; ++shard) {
    const auto first = replicas_.begin() + static_cast<std::ptrdiff_t>(shard * copies);
    const auto owned = [&] {
      return std::any_of(first, first + static_cast<std::ptrdiff_t>(copies),
                         [](const SimulatedReplica* one) { return one->owns(); });
    };
    for (int tries = 0; !owned() && tries < 600; ++tries)
      simulation_.clock().sleep_for(milliseconds{100});
    if (owned()) continue;
    return fmt::format("shard {} has no owner for ever{}", shard, state());
  }
  return {};
}

std::vector<Follower> SimulatedCopies::followers() const {
  std::vector<Follower> all;
  for (const SimulatedReplica* one : replicas_)
    all.push_back({.shard = one->shard(), .address = one->name()});
  return all;
}

std::string SimulatedCopies::state() const {
  std::string all;
  for (const SimulatedReplica* one : replicas_) all += "; " + one->state();
  return all;
}

void SimulatedCopies::break_one(Random& random) {
  SimulatedReplica& replica = *replicas_[random.below(replicas_.size())];
  const milliseconds time{random.below(3'000)};
  const std::string with =
      random.below(2) == 0 ? "meta" : fmt::format("router{}", random.below(options_.routers));
  switch (random.below(4)) {
    case 0: simulation_.note(replica.name() + " is paused"); return replica.pause(time);
    case 1:
      simulation_.note(replica.name() + " does not reach the object store");
      return replica.cut_off_objects(time);
    case 2: report_.handed_over += replica.owns() ? 1 : 0; return replica.stop_in_order(time);
    default:
      simulation_.note(replica.name() + " and " + with + " are cut off");
      network_.cut_off(replica.name(), with);
      return simulation_.after(time, [this] { network_.heal(); });
  }
}

void SimulatedCopies::break_beside(const std::string& name, Random& random) {
  const std::size_t copies = options_.followers + 1;
  const auto at = static_cast<std::size_t>(
      std::ranges::find(replicas_, name, [](const auto* one) { return one->name(); }) -
      replicas_.begin());
  if (at == replicas_.size()) return;
  SimulatedReplica& other =
      *replicas_[at / copies * copies + (at + 1 + random.below(options_.followers)) % copies];
  const milliseconds lag{1'000 + random.below(3'000)};
  const milliseconds pause{random.below(1'000)};
  simulation_.note(other.name() + " does not reach the object store");
  other.cut_off_objects(lag);
  simulation_.after(random.below(4) * lag / 4, [this, one = replicas_[at], pause] {
    simulation_.note(one->name() + " is paused");
    one->pause(pause);
  });
}

void SimulatedCopies::lose_first_owner() {
  simulation_.clock().sleep_for(milliseconds{500});
  if (options_.owns_again) {
    replicas_.front()->crash(milliseconds{20});
    // Unless another copy takes it over meanwhile.
    for (int tries = 0; !replicas_.front()->owns() && tries < 3'000; ++tries)
      simulation_.clock().sleep_for(milliseconds{1});
  }
  replicas_.front()->stop();
  simulation_.note("node0 is gone");
}

void SimulatedCopies::crash(SimulatedReplica& replica, const std::string& peer) {
  if (!options_.crash || ++report_.moments != options_.crash->moment) return;
  using Crash = MoveCrash::Kind;
  const milliseconds pause{700};
  report_.crashed = options_.crash->kind < Crash::kPeerAtWrite;
  switch (options_.crash->kind) {
    case Crash::kRouterBefore: return replica.crash(pause);
    case Crash::kRouterAfter:
      return simulation_.after(milliseconds{30}, [&replica, pause] { replica.crash(pause); });
    case Crash::kPeerBefore:
      if (peer == "meta") return meta_.crash(pause);
      return replica.cut_off_objects(pause);
    case Crash::kPeerAtWrite: return replica.crash_in_move(options_.crash->write);
    case Crash::kPeerAfter: return replica.crash_in_move(0);
  }
}

std::string SimulatedCopies::owner_of_last() const {
  const auto first = replicas_.end() - static_cast<std::ptrdiff_t>(options_.followers + 1);
  const auto owner =
      std::find_if(first, replicas_.end(), [](const SimulatedReplica* one) { return one->owns(); });
  return owner == replicas_.end() ? (*first)->name() : (*owner)->name();
}

void SimulatedCopies::set(const ObjectFaults& faults) {
  for (SimulatedReplica* replica : replicas_) replica->set(faults);
}

void SimulatedCopies::stop() {
  for (SimulatedReplica* replica : replicas_) replica->stop();
}

}  // namespace kin::router
