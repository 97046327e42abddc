#include "router/testing/cluster_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/hash.h"
#include "router/followers.h"
#include "router/grow.h"
#include "router/mover.h"
#include "router/repartition.h"
#include "router/router.h"
#include "router/testing/cluster_clients.h"
#include "router/testing/drawn_repartition.h"
#include "router/testing/history.h"
#include "router/testing/simulated_copies.h"
#include "router/testing/simulated_meta.h"
#include "router/testing/watched_moves.h"

namespace kin::router {
namespace {

using std::chrono::milliseconds;

// The first parts of a run are the kinds of faults that may happen in any message or request.
enum FaultKind : std::size_t { kLoss, kTwice, kVeryLate, kCrashInRequest, kSlow, kFaultKinds };

constexpr std::size_t kPartitions = 8;
constexpr const char* kIndex = kSimulatedIndex;

index::ShardOptions shard_options() {
  index::ShardOptions options;
  options.spaces = {
      {.name = "main",
       .space = {
           .dimension = 4, .distance = index::Distance::kL2, .storage = index::RawStorage::kF32}}};
  options.cell_size = 8;
  return options;
}

// A router process, as long as it lives.
struct RouterLife {
  Process process = 0;
  std::unique_ptr<SimulatedMeta> meta = {};
  std::unique_ptr<Router> router = {};
  std::unique_ptr<WatchedMeta> watched = {};
  std::unique_ptr<Mover> mover = {};
};

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
    lives_.resize(options.routers);
    opening_.assign(options.routers, false);
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
  void kill_router(std::size_t number);

  // Moves.
  bool has_moves() const {
    return options_.moves || options_.divides || options_.contended ||
           (options_.crash && options_.followers == 0);
  }
  void join_last();
  void move_all_the_time();
  void step_moves(std::size_t number);
  void begin_any_move(Random& random);
  void abort_any_move(Random& random);
  void move_first_key();
  void begin_any_repartition(Random& random);
  void abort_any_repartition(Random& random);
  void divide_first_key();
  void settle();
  void settle_repartition();
  void count(const Repartition& repartition);
  MoverWatch watch_of(std::size_t number);
  void reach_each_other();
  void crash_at_moment(const std::function<void()>& stop_caller, const std::string& peer);

  // Nothing if it cannot be opened, which is a violation, or if the run is over.
  std::shared_ptr<RouterLife> router(std::size_t number);
  std::shared_ptr<RouterLife> try_open(std::size_t number);
  Connect connect_from(Process process);

  bool has(std::size_t part) const { return !options_.without.contains(part); }
  // What a part does is drawn from numbers of its own, and does not depend on the others.
  Random random_of(std::size_t part) const { return Random(options_.seed ^ mix64(part + 1)); }
  std::size_t first_fault() const { return kFaultKinds + options_.clients * options_.operations; }

  RunOptions options_;
  Simulation simulation_;
  SimulatedNetwork network_;
  SimulatedMetaServer meta_{simulation_, network_};
  std::vector<std::unique_ptr<SimulatedServer>> nodes_;
  std::vector<std::shared_ptr<RouterLife>> lives_;
  std::vector<bool> opening_;
  std::size_t acting_ = 0;  // clients that are not done
  bool is_moving_ = false;  // the move of RunOptions::crash has begun
  bool settled_ = false;    // movers may stop
  bool is_over_ = false;    // no router is opened any more
  std::size_t faults_ = 0;  // so far, with those that are left out
  std::set<std::uint64_t> counted_;  // repartitions
  RunReport report_;
  SimulatedCopies copies_{simulation_, network_, meta_, options_, report_};  // among nodes_
  History history_;
  ClusterClients clients_{options_, simulation_, history_, report_};
};

Connect ClusterRun::connect_from(Process process) {
  return [this, process](const std::string& address) -> std::shared_ptr<ShardClient> {
    const auto node =
        std::ranges::find(nodes_, address, [](const auto& one) { return one->name(); });
    return std::make_shared<SimulatedClient>(simulation_, network_, process, **node);
  };
}

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
  ShardMap map = spread_partitions(kIndex, names, kPartitions);
  for (const std::string& name : names) map.identities.push_back(hash128(name));
  list_followers(meta);
  const Status made = create_index(meta, connect_from(process),
                                   {.map = std::move(map), .centroids = std::move(centroids)},
                                   {.clock = &simulation_.clock()});
  KIN_CHECK(made.ok(), made.ok() ? "" : made.error().message.c_str());
  network_.stop_process(process);
}

// Those of the shard that joins, too.
void ClusterRun::list_followers(MetaStore& meta) {
  const std::vector<Follower> copies = copies_.followers();
  if (copies.empty()) return;
  const auto written = swap_followers(meta, kIndex, {}, copies);
  KIN_CHECK(written.ok() && *written, "nothing breaks yet");
}

// Some nodes reach no others, as where their credentials differ.
void ClusterRun::reach_each_other() {
  if (options_.relays || (options_.moves && options_.seed % 6 == 5)) return;
  for (const auto& node : nodes_) {
    const auto stop = [node = node.get()] { node->crash(milliseconds{700}); };
    node->reach_others(
        {.reach = [this](Process from) { return connect_from(from); },
         .before = [this, stop](const std::string& peer) { crash_at_moment(stop, peer); },
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
  if (!options_.crash) copies_.set({.fails = 12, .reply_lost = 12, .slow = 60});
  acting_ = options_.clients;
  for (std::size_t client = 0; client < options_.clients; ++client)
    simulation_.spawn([this, client] { act(client); });
  if (has_moves()) {
    for (std::size_t number = 0; number < options_.routers; ++number)
      simulation_.spawn([this, number] { step_moves(number); });
  }
  simulation_.spawn([this] {
    if (options_.contended) return move_all_the_time();
    if (!options_.crash) return break_things();
    if (options_.followers > 0) return copies_.lose_first_owner();
    options_.divides ? divide_first_key() : move_first_key();
  });
  if (options_.joins) simulation_.spawn([this] { join_last(); });
  while (acting_ > 0) simulation_.clock().sleep_for(milliseconds{100});
  end_faults();
  if (const auto missing = copies_.await_owners()) clients_.violate(*missing);
  if (has_moves()) settle();
  if (options_.divides) settle_repartition();
  settled_ = true;
  const std::shared_ptr<RouterLife> last = router(0);
  if (last != nullptr) clients_.read_all(*last->router);
  is_over_ = true;
  copies_.stop();
}

void ClusterRun::end_faults() {
  simulation_.note("everything works again");
  network_.set({});
  network_.heal();
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
    case 1: return kill_router(random.below(lives_.size()));
    case 2: {
      // Targets of moves read from other nodes.
      const std::size_t other = random.below(lives_.size() + (options_.moves ? nodes_.size() : 0));
      const std::string machine = other < lives_.size() ? fmt::format("router{}", other)
                                                        : nodes_[other - lives_.size()]->name();
      simulation_.note(machine + " and " + node.name() + " are cut off");
      network_.cut_off(machine, node.name());
      return simulation_.after(pause, [this] { network_.heal(); });
    }
    case 3: return meta_.crash(pause);
    case 4:
    case 5:
    case 6:
    case 7: return node.step();
    case 8: return options_.moves ? abort_any_move(random) : begin_any_repartition(random);
    default: return options_.moves ? begin_any_move(random) : begin_any_repartition(random);
    case 16: return abort_any_repartition(random);
    case 17:
    case 18:
    case 19:
    case 20:
    case 21:
    case 22:
    case 23: return begin_any_repartition(random);
  }
}

void ClusterRun::kill_router(std::size_t number) {
  const auto life = std::exchange(lives_[number], nullptr);
  if (life == nullptr) return;
  simulation_.note(fmt::format("router{} is killed", number));
  network_.stop_process(life->process);
}

std::shared_ptr<RouterLife> ClusterRun::try_open(std::size_t number) {
  auto life = std::make_shared<RouterLife>();
  life->process = network_.start_process(fmt::format("router{}", number));
  life->meta = std::make_unique<SimulatedMeta>(simulation_, network_, life->process, meta_);
  auto opened = Router::open(kIndex, *life->meta, connect_from(life->process),
                             {.clock = &simulation_.clock(),
                              .timeout = milliseconds{4'000},
                              .attempt = milliseconds{300},
                              .pause = milliseconds{20},
                              .hedge = milliseconds{60},
                              .hedging = {.slow = 0.4,
                                          .least = milliseconds{1},
                                          .known_calls = 2,
                                          .budget = 1},
                              .on_follower =
                                  [this](FollowerAsked why, FollowerEvent event) {
                                    if (why != FollowerAsked::kSlow) return;
                                    ++(event == FollowerEvent::kAsked ? report_.hedges
                                                                      : report_.hedges_won);
                                  },
                              .text = index::text_options(index::ShardOptions{})});
  if (!opened.ok()) return nullptr;
  life->router = std::move(*opened);
  const MoverWatch watch = watch_of(number);
  life->watched = std::make_unique<WatchedMeta>(*life->meta, watch);
  life->mover =
      std::make_unique<Mover>(kIndex, *life->watched, watched(connect_from(life->process), watch),
                              MoverOptions{.clock = &simulation_.clock(),
                                           .attempt = milliseconds{300},
                                           .pause = milliseconds{50},
                                           .grace = milliseconds{100},
                                           .patience = milliseconds{1'500},
                                           .yield = milliseconds{150},
                                           .page = options_.contended ? 50U : 1 + options_.seed % 3,
                                           .pull_bytes = options_.seed % 3 == 0 ? kPageBytes : 600U,
                                           .removed = 3,
                                           .divided = 2});
  return life;
}

std::shared_ptr<RouterLife> ClusterRun::router(std::size_t number) {
  for (int tries = 0; lives_[number] == nullptr; ++tries) {
    if (is_over_) return nullptr;
    if (tries > 600)
      clients_.violate(
          fmt::format("router{} cannot be opened for ever; {}", number, copies_.state()));
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

void ClusterRun::act(std::size_t client) {
  for (std::size_t i = 0; i < options_.operations; ++i) {
    const std::size_t part = kFaultKinds + client * options_.operations + i;
    if (!has(part)) continue;
    Random random = random_of(part);
    simulation_.clock().sleep_for(milliseconds{random.below(150)});
    const std::shared_ptr<RouterLife> life = router(client % lives_.size());
    if (life == nullptr) break;
    clients_.act(*life->router, random);
  }
  --acting_;
}

MoverWatch ClusterRun::watch_of(std::size_t number) {
  const auto stop = [this, number] { kill_router(number); };
  return {.before = [this, stop](const std::string& peer) { crash_at_moment(stop, peer); },
          .sabotage = options_.sabotage};
}

void ClusterRun::step_moves(std::size_t number) {
  while (!settled_) {
    const std::shared_ptr<RouterLife> life = router(number);
    if (life == nullptr) return;
    const auto outcome = life->mover->step();
    const SteadyTime now = simulation_.now();
    const auto next = outcome.ok() ? outcome->next(now) : std::nullopt;
    const auto wait = next ? *next - now : std::chrono::nanoseconds{milliseconds{50}};
    simulation_.clock().sleep_for(std::max<std::chrono::nanoseconds>(wait, milliseconds{1}));
  }
}

void ClusterRun::begin_any_move(Random& random) {
  const std::shared_ptr<RouterLife> life = router(random.below(lives_.size()));
  if (life == nullptr) return;
  const NewMove wanted{
      .partition = index::PartitionId{static_cast<std::uint32_t>(
          random.below(life->router->map().partitions.size()))},
      .target = static_cast<std::uint32_t>(random.below(options_.nodes + report_.joined))};
  const auto begun = begin_move(*life->meta, kIndex, wanted);
  simulation_.note(fmt::format("move of partition {} to node{}{}",
                               static_cast<std::uint32_t>(wanted.partition), wanted.target,
                               begun.ok() ? "" : ": " + begun.error().message));
}

void ClusterRun::abort_any_move(Random& random) {
  const std::shared_ptr<RouterLife> life = router(random.below(lives_.size()));
  if (life == nullptr) return;
  const auto moves = read_moves(*life->meta, kIndex);
  if (!moves.ok()) return;
  for (const Move& move : *moves) {
    if (!rule_of(move.phase).can_abort) continue;
    const auto aborted = abort_move(*life->meta, kIndex, move.partition, "as asked");
    return simulation_.note(fmt::format("abort of the move of partition {} while {}{}",
                                        static_cast<std::uint32_t>(move.partition),
                                        name_of(move.phase),
                                        aborted.ok() ? "" : ": " + aborted.error().message));
  }
}

// Entities without a vector are in their home partition, so this one has everything: entities,
// edges, tombstones and directory entries.
void ClusterRun::move_first_key() {
  simulation_.clock().sleep_for(milliseconds{500});
  const std::shared_ptr<RouterLife> life = router(0);
  if (life == nullptr) return;
  const ShardMap map = life->router->map();
  const index::PartitionId partition = map.home_of(key_id(0));
  const auto target = static_cast<std::uint32_t>((map.shard_of(partition) + 1) % nodes_.size());
  const auto begun =
      begin_move(*life->meta, kIndex, {.partition = partition, .target = target});
  KIN_CHECK(begun.ok(), begun.ok() ? "" : begun.error().message.c_str());
  is_moving_ = true;
}

void ClusterRun::begin_any_repartition(Random& random) {
  const std::shared_ptr<RouterLife> life = router(random.below(lives_.size()));
  if (life == nullptr) return;
  const NewRepartition wanted = draw_repartition(life->router->map(), random);
  if (const auto last = read_repartition(*life->meta, kIndex); last.ok() && *last)
    count((**last).repartition);
  const auto begun = begin_repartition(*life->meta, kIndex, wanted);
  simulation_.note(fmt::format("repartition of {}{}", name_of(wanted),
                               begun.ok() ? "" : ": " + begun.error().message));
}

void ClusterRun::abort_any_repartition(Random& random) {
  const std::shared_ptr<RouterLife> life = router(random.below(lives_.size()));
  if (life == nullptr) return;
  const auto aborted = abort_repartition(*life->meta, kIndex, "as asked");
  simulation_.note(fmt::format("abort of the repartition{}",
                               aborted.ok() ? "" : ": " + aborted.error().message));
}

// All partitions of the shard that has the first key which exists. Again, where the keys are
// removed before their vectors are looked at.
void ClusterRun::divide_first_key() {
  for (;;) {
    simulation_.clock().sleep_for(milliseconds{300});
    const std::shared_ptr<RouterLife> life = router(0);
    if (life == nullptr || acting_ == 0) return;
    const auto last = read_repartition(*life->meta, kIndex);
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
    is_moving_ =
        begin_repartition(
            *life->meta, kIndex,
            {.partitions = map.partitions_of(map.shard_of((*entity)->head.partition)), .added = 1})
            .ok() ||
        is_moving_;
  }
}

void ClusterRun::join_last() {
  Random random(options_.seed);
  simulation_.clock().sleep_for(milliseconds{random.below(1'000)});
  while (acting_ > 0) {
    const std::shared_ptr<RouterLife> life = router(random.below(lives_.size()));
    if (life == nullptr) return;
    const std::string node =
        options_.followers > 0 ? copies_.owner_of_last() : nodes_.back()->name();
    const auto joined = add_shard(*life->meta, connect_from(life->process), kIndex, node, {},
                                  {.clock = &simulation_.clock(), .timeout = milliseconds{500}});
    simulation_.note(joined.ok() ? node + " joins" : joined.error().message);
    if (joined.ok()) return void(++report_.joined);
    simulation_.clock().sleep_for(milliseconds{50});
  }
}

void ClusterRun::move_all_the_time() {
  for (std::uint32_t target = 0; acting_ > 0; target = (target + 1) % nodes_.size()) {
    const std::shared_ptr<RouterLife> life = router(0);
    if (life == nullptr) return;
    [[maybe_unused]] const auto begun =
        begin_move(*life->meta, kIndex,
                   {.partition = life->router->map().home_of(key_id(0)), .target = target});
    simulation_.clock().sleep_for(milliseconds{20});
  }
}

void ClusterRun::count(const Repartition& repartition) {
  if (!rule_of(repartition.phase).over || !counted_.insert(repartition.id).second) return;
  ++(repartition.phase == RepartitionPhase::kDone ? report_.divided : report_.undone);
}

void ClusterRun::settle_repartition() {
  std::optional<StoredRepartition> last;
  for (int tries = 0; tries < 600; ++tries) {
    const std::shared_ptr<RouterLife> life = router(0);
    if (life == nullptr) return;
    auto read = read_repartition(*life->meta, kIndex);
    if (read.ok()) last = std::move(*read);
    if (read.ok() && (!last || rule_of(last->repartition.phase).over)) break;
    simulation_.clock().sleep_for(milliseconds{100});
  }
  if (last && !rule_of(last->repartition.phase).over)
    clients_.violate(fmt::format("a repartition is {} for ever", name_of(last->repartition.phase)));
  if (last) count(last->repartition);
}

void ClusterRun::settle() {
  std::vector<Move> moves;
  for (int tries = 0; tries < 600; ++tries) {
    const std::shared_ptr<RouterLife> life = router(0);
    if (life == nullptr) return;
    auto read = read_moves(*life->meta, kIndex);
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

void ClusterRun::crash_at_moment(const std::function<void()>& stop_caller,
                                 const std::string& peer) {
  // Calls that look for moves before there is one are not counted.
  if (!options_.crash || !is_moving_ || ++report_.moments != options_.crash->moment) return;
  using Crash = MoveCrash::Kind;
  const auto node = std::ranges::find(nodes_, peer, [](const auto& one) { return one->name(); });
  const milliseconds pause{700};
  report_.crashed = options_.crash->kind < Crash::kPeerAtWrite;
  switch (options_.crash->kind) {
    case Crash::kRouterBefore: return stop_caller();
    case Crash::kRouterAfter:
      return simulation_.after(std::chrono::microseconds{1}, stop_caller);
    case Crash::kPeerBefore: return node == nodes_.end() ? meta_.crash(pause) : (*node)->crash(pause);
    case Crash::kPeerAtWrite:
    case Crash::kPeerAfter:
      if (node == nodes_.end()) return;
      return (*node)->crash_in_move(
          options_.crash->kind == Crash::kPeerAfter ? 0 : options_.crash->write);
  }
}

}  // namespace

RunReport run_cluster(const RunOptions& options) {
  return ClusterRun(options).run();
}

}  // namespace kin::router
