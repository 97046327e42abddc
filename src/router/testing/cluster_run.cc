#include "router/testing/cluster_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/hash.h"
#include "router/followers.h"
#include "router/grow.h"
#include "router/testing/cluster_clients.h"
#include "router/testing/cluster_moves.h"
#include "router/testing/cluster_routers.h"
#include "router/testing/history.h"
#include "router/testing/simulated_copies.h"

namespace kin::router {
namespace {

using std::chrono::milliseconds;

// The first parts of a run are the kinds of faults that may happen in any message or request.
enum FaultKind : std::size_t {
  kLoss,
  kTwice,
  kVeryLate,
  kCrashInRequest,
  kSlow,
  kAtCalls,  // of moves and repartitions: whoever is asked breaks
  kFaultKinds
};

constexpr std::size_t kPartitions = 8;

index::ShardOptions shard_options() {
  index::ShardOptions options;
  options.spaces = {
      {.name = "main",
       .space = {
           .dimension = 4, .distance = index::Distance::kL2, .storage = index::RawStorage::kF32}}};
  options.cell_size = 8;
  return options;
}

class ClusterRun {
 public:
  explicit ClusterRun(const RunOptions& options)
      : options_(options),
        simulation_(options.seed ^ mix64(options.weather)),
        network_(simulation_, {}) {
    for (std::size_t i = 0; i < options.nodes + (options.joins ? 1 : 0); ++i) {
      const std::string name = fmt::format("node{}", i);
      if (options.followers > 0)
        copies_.make(name, shard_options(), nodes_);
      else
        nodes_.push_back(
            std::make_unique<SimulatedNode>(simulation_, network_, name, shard_options()));
    }
  }

  RunReport run() {
    simulation_.spawn([this] { live(); });
    simulation_.run();
    if (!report_.violation) report_.violation = history_.violation();
    report_.notes = simulation_.notes();
    report_.digest = simulation_.digest();
    report_.parts = first_fault() + faults_;
    report_.checked = history_.size();
    for (const auto& node : nodes_) report_.crashed = report_.crashed || node->crashed_in_move();
    return std::move(report_);
  }

 private:
  void live();
  void create();
  void list_followers(MetaStore& meta);
  void break_things();
  void break_one_thing(Random& random);
  void act(std::size_t client);
  void end_faults();

  bool has_moves() const {
    return options_.moves || options_.divides || options_.contended ||
           (options_.crash && options_.followers == 0);
  }
  void join_last();
  void reach_each_other();
  // Before a mover, or the target of a move, sends a call to `peer`.
  void before_call(const std::function<void()>& stop_caller, const std::string& peer,
                   std::uint64_t breaks);
  void break_peer(const std::string& peer);
  void crash_at_moment(const std::function<void()>& stop_caller, const std::string& peer);

  bool has(std::size_t part) const { return !options_.without.contains(part); }
  // What a part does is drawn from numbers of its own, and does not depend on the others.
  Random random_of(std::size_t part) const { return Random(options_.seed ^ mix64(part + 1)); }
  std::size_t first_fault() const { return kFaultKinds + options_.clients * options_.operations; }

  RunOptions options_;
  Simulation simulation_;
  SimulatedNetwork network_;
  SimulatedMetaServer meta_{simulation_, network_};
  SimulatedNodes nodes_;
  std::size_t acting_ = 0;    // clients that are not done
  std::size_t faults_ = 0;    // so far, with those that are left out
  std::uint64_t breaks_ = 0;  // whoever is asked by a mover, once in so many calls
  RunReport report_;
  SimulatedCopies copies_{simulation_, network_, meta_, options_, report_};  // among nodes_
  History history_;
  ClusterClients clients_{options_, simulation_, history_, report_};
  ClusterRouters routers_{
      options_,
      simulation_,
      network_,
      meta_,
      nodes_,
      report_,
      {.before_call = [this](const auto& stop,
                             const auto& peer) { before_call(stop, peer, breaks_); },
       .violate = [this](const auto& what) { clients_.violate(what + copies_.state()); }}};
  ClusterMoves moves_{options_, simulation_, routers_,
                      clients_, report_,     [this] { return acting_ > 0; }};
};

void ClusterRun::create() {
  const Process process = network_.start_process("setup");
  SimulatedMeta meta(simulation_, network_, process, meta_);
  std::vector<std::vector<float>> sample;
  Random random(1);
  for (int i = 0; i < 64; ++i)
    sample.push_back({static_cast<float>(random.unit()), static_cast<float>(random.unit()),
                      static_cast<float>(random.unit()), static_cast<float>(random.unit())});
  std::optional<Centroids> centroids;
  // Some indexes place entities by their ids.
  if (options_.seed % 4 != 3) {
    auto trained = Centroids::train(shard_options().spaces[0], sample, {.partitions = kPartitions});
    centroids = std::move(*trained);
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i < options_.nodes; ++i) names.push_back(fmt::format("node{}", i));
  ShardMap map = spread_partitions(kSimulatedIndex, names, kPartitions);
  for (const std::string& name : names) map.identities.push_back(hash128(name));
  list_followers(meta);
  const Status made = create_index(meta, routers_.connect_from(process),
                                   {.map = std::move(map), .centroids = std::move(centroids)},
                                   {.clock = &simulation_.clock()});
  KIN_CHECK(made.ok(), made.ok() ? "" : made.error().message.c_str());
  network_.stop_process(process);
}

// Those of the shard that joins, too.
void ClusterRun::list_followers(MetaStore& meta) {
  const std::vector<Follower> copies = copies_.followers();
  if (copies.empty()) return;
  const auto written = swap_followers(meta, kSimulatedIndex, {}, copies);
  KIN_CHECK(written.ok() && *written, "nothing breaks yet");
}

// Some nodes reach no others, as where their credentials differ.
void ClusterRun::reach_each_other() {
  if (options_.relays || (options_.moves && options_.seed % 6 == 5)) return;
  for (const auto& node : nodes_) {
    const auto stop = [node = node.get()] { node->crash(milliseconds{700}); };
    node->reach_others(
        {.reach = [this](Process from) { return routers_.connect_from(from); },
         .before = [this, stop](const std::string& peer) { before_call(stop, peer, breaks_ / 10); },
         .pulled =
             [this](bool ok, std::size_t pages) {
               report_.pulls += ok ? 1 : 0;
               report_.failed_pulls += !ok && pages > 0 ? 1 : 0;
             }});
  }
}

void ClusterRun::live() {
  if (const auto missing = copies_.await_owners()) clients_.violate(*missing);
  create();
  reach_each_other();
  // Seeds differ in what goes wrong, too.
  const auto chance = [&](FaultKind kind, std::uint64_t from) {
    Random random = random_of(kind);
    if (options_.contended) return kind == kLoss ? std::uint64_t{12} : std::uint64_t{0};
    const bool never = options_.crash || !has(kind) || random.below(3) == 0;
    return never ? 0 : from + random.below(4 * from);
  };
  network_.set(
      {.loss = chance(kLoss, 10), .twice = chance(kTwice, 10), .very_late = chance(kVeryLate, 30)});
  const NodeFaults faults{.crash_in_request = chance(kCrashInRequest, 40),
                          .slow = chance(kSlow, 30),
                          .sabotage = options_.sabotage};
  for (const auto& node : nodes_) node->set(faults);
  breaks_ = chance(kAtCalls, 60);
  if (!options_.crash) copies_.set({.fails = 12, .reply_lost = 12, .slow = 60});
  acting_ = options_.clients;
  for (std::size_t client = 0; client < options_.clients; ++client)
    simulation_.spawn([this, client] { act(client); });
  if (has_moves()) {
    for (std::size_t number = 0; number < options_.routers; ++number)
      simulation_.spawn([this, number] { moves_.step(number); });
  }
  simulation_.spawn([this] {
    if (options_.contended) return moves_.move_all_the_time();
    if (!options_.crash) return break_things();
    if (options_.followers > 0) return copies_.lose_first_owner();
    options_.divides ? moves_.divide_first_key() : moves_.move_first_key();
  });
  if (options_.joins) simulation_.spawn([this] { join_last(); });
  while (acting_ > 0) simulation_.clock().sleep_for(milliseconds{100});
  end_faults();
  if (const auto missing = copies_.await_owners()) clients_.violate(*missing);
  if (has_moves()) moves_.settle();
  const RouterPointer last = routers_.get(0);
  if (last != nullptr) clients_.read_all(*last->router);
  routers_.end();
  copies_.stop();
}

void ClusterRun::end_faults() {
  simulation_.note("everything works again");
  network_.set({});
  network_.heal();
  breaks_ = 0;
  meta_.ensure_up();
  for (const auto& node : nodes_) {
    node->set({.sabotage = options_.sabotage});
    node->ensure_up();
  }
}

void ClusterRun::break_things() {
  while (acting_ > 0) {
    const std::size_t part = first_fault() + faults_;
    Random random = random_of(part);
    simulation_.clock().sleep_for(milliseconds{1 + random.below(400)});
    if (acting_ == 0) return;
    ++faults_;
    if (has(part)) break_one_thing(random);
  }
}

void ClusterRun::break_one_thing(Random& random) {
  if (options_.followers > 0 && random.below(3) == 0) return copies_.break_one(random);
  SimulatedServer& node = *nodes_[random.below(nodes_.size())];
  const milliseconds pause{random.below(2'000)};
  switch (random.below(options_.divides ? 24 : options_.moves ? 16 : 8)) {
    case 0: return node.crash(pause);
    case 1: return routers_.kill(random.below(routers_.size()));
    case 2: {
      // Targets of moves read from other nodes.
      const std::size_t other =
          random.below(routers_.size() + (options_.moves ? nodes_.size() : 0));
      const std::string machine = other < routers_.size() ? fmt::format("router{}", other)
                                                          : nodes_[other - routers_.size()]->name();
      simulation_.note(machine + " and " + node.name() + " are cut off");
      network_.cut_off(machine, node.name());
      return simulation_.after(pause, [this] { network_.heal(); });
    }
    case 3: return meta_.crash(pause);
    case 4:
    case 5:
    case 6:
    case 7: return node.step();
    case 8: return options_.moves ? moves_.abort_any(random) : moves_.begin_any_repartition(random);
    default:
      return options_.moves ? moves_.begin_any(random) : moves_.begin_any_repartition(random);
    case 16: return moves_.abort_any_repartition(random);
    case 17:
    case 18:
    case 19:
    case 20:
    case 21:
    case 22:
    case 23: return moves_.begin_any_repartition(random);
  }
}

void ClusterRun::act(std::size_t client) {
  for (std::size_t i = 0; i < options_.operations; ++i) {
    const std::size_t part = kFaultKinds + client * options_.operations + i;
    if (!has(part)) continue;
    Random random = random_of(part);
    simulation_.clock().sleep_for(milliseconds{random.below(150)});
    const RouterPointer life = routers_.get(client % routers_.size());
    if (life == nullptr) break;
    clients_.act(*life->router, random);
  }
  --acting_;
}

void ClusterRun::join_last() {
  Random random(options_.seed);
  simulation_.clock().sleep_for(milliseconds{random.below(1'000)});
  while (acting_ > 0) {
    const RouterPointer life = routers_.any(random);
    if (life == nullptr) return;
    const std::string node =
        options_.followers > 0 ? copies_.owner_of_last() : nodes_.back()->name();
    const auto joined =
        add_shard(*life->meta, routers_.connect_from(life->process), kSimulatedIndex, node, {},
                  {.clock = &simulation_.clock(), .timeout = milliseconds{500}});
    simulation_.note(joined.ok() ? node + " joins" : joined.error().message);
    if (joined.ok()) return void(++report_.joined);
    simulation_.clock().sleep_for(milliseconds{50});
  }
}

void ClusterRun::before_call(const std::function<void()>& stop_caller, const std::string& peer,
                             std::uint64_t breaks) {
  if (options_.crash) return crash_at_moment(stop_caller, peer);
  if (breaks > 0 && simulation_.once_in(breaks)) break_peer(peer);
}

// For a while, so that what is tried instead meets the same.
void ClusterRun::break_peer(const std::string& peer) {
  SimulatedServer* const node = find_node(nodes_, peer);
  if (node == nullptr) return;
  Random& random = simulation_.random();
  const milliseconds pause{random.below(2'000)};
  if (options_.followers > 0 && random.below(3) > 0) return copies_.break_beside(peer, random);
  if (random.below(2) == 0) return node->crash(pause);
  simulation_.note(peer + " is cut off from everybody");
  network_.isolate(peer);
  simulation_.after(pause, [this] { network_.heal(); });
}

void ClusterRun::crash_at_moment(const std::function<void()>& stop_caller,
                                 const std::string& peer) {
  // Calls that look for moves before there is one are not counted.
  if (!options_.crash || !moves_.has_begun() || ++report_.moments != options_.crash->moment) return;
  using Crash = MoveCrash::Kind;
  SimulatedServer* const node = find_node(nodes_, peer);
  const milliseconds pause{700};
  report_.crashed = options_.crash->kind < Crash::kPeerAtWrite;
  switch (options_.crash->kind) {
    case Crash::kRouterBefore: return stop_caller();
    case Crash::kRouterAfter: return simulation_.after(std::chrono::microseconds{1}, stop_caller);
    case Crash::kPeerBefore: return node == nullptr ? meta_.crash(pause) : node->crash(pause);
    case Crash::kPeerAtWrite:
    case Crash::kPeerAfter:
      if (node == nullptr) return;
      return node->crash_in_move(options_.crash->kind == Crash::kPeerAfter ? 0
                                                                           : options_.crash->write);
  }
}

}  // namespace

RunReport run_cluster(const RunOptions& options) {
  return ClusterRun(options).run();
}

}  // namespace kin::router
