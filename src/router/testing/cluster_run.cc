#include "router/testing/cluster_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/hash.h"
#include "router/router.h"
#include "router/testing/history.h"
#include "router/testing/simulated_meta.h"

namespace kin::router {
namespace {

using std::chrono::milliseconds;
using Kind = Operation::Kind;

// The first parts of a run are the kinds of faults that may happen in any message or request.
enum FaultKind : std::size_t { kLoss, kTwice, kVeryLate, kCrashInRequest, kSlow, kFaultKinds };

constexpr std::size_t kPartitions = 8;
constexpr const char* kIndex = "things";

index::ShardOptions shard_options() {
  index::ShardOptions options;
  options.spaces = {
      {.name = "main",
       .space = {
           .dimension = 4, .distance = index::Distance::kL2, .storage = index::RawStorage::kF32}}};
  options.cell_size = 8;
  return options;
}

std::string key_name(std::size_t key) {
  return fmt::format("key{}", key);
}
DocId key_id(std::size_t key) {
  return doc_id_of("test", key_name(key));
}

// A router process, as long as it lives.
struct RouterLife {
  Process process = 0;
  std::unique_ptr<SimulatedMeta> meta = {};
  std::unique_ptr<Router> router = {};
};

class ClusterRun {
 public:
  explicit ClusterRun(const RunOptions& options)
      : options_(options),
        simulation_(options.seed ^ mix64(options.weather)),
        network_(simulation_, {}) {
    for (std::size_t i = 0; i < options.nodes; ++i)
      nodes_.push_back(std::make_unique<SimulatedNode>(simulation_, network_,
                                                       fmt::format("node{}", i), shard_options()));
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
    return std::move(report_);
  }

 private:
  void live();
  void create();
  void break_things();
  void break_one_thing(Random& random);
  void act(std::size_t client);
  void act_once(Router& router, Random& random);
  void end_faults();

  std::shared_ptr<RouterLife> router(std::size_t number);
  std::shared_ptr<RouterLife> try_open(std::size_t number);
  Connect connect_from(Process process);

  bool has(std::size_t part) const { return !options_.without.contains(part); }
  // What a part does is drawn from numbers of its own, and does not depend on the others.
  Random random_of(std::size_t part) const { return Random(options_.seed ^ mix64(part + 1)); }
  std::size_t first_fault() const { return kFaultKinds + options_.clients * options_.operations; }

  // Operations of clients.
  void put(Router& router, std::vector<std::size_t> keys, Random& random);
  void remove(Router& router, std::size_t key);
  void get(Router& router);
  void search_key(Router& router, std::size_t key);
  void search_state(Router& router, std::size_t key, Random& random);
  void list(Router& router, bool by_vector);
  void read_edge(Router& router, std::size_t key, index::Direction direction);

  void wrote(std::size_t key, KeyState state, SteadyTime begun, bool known);
  void saw(std::size_t key, Kind kind, KeyState state, SteadyTime begun, const std::string& how);
  void violate(const std::string& what);
  std::vector<index::Mutation> mutations_for(std::size_t key, KeyState state, Random& random);

  RunOptions options_;
  Simulation simulation_;
  SimulatedNetwork network_;
  SimulatedMetaServer meta_{simulation_, network_};
  std::vector<std::unique_ptr<SimulatedNode>> nodes_;
  std::vector<std::shared_ptr<RouterLife>> lives_;
  std::vector<bool> opening_;
  std::size_t acting_ = 0;  // clients that are not done
  std::size_t faults_ = 0;  // so far, with those that are left out
  KeyState last_state_ = 0;
  History history_;
  RunReport report_;
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
  auto centroids = Centroids::train(shard_options().spaces[0], sample, {.partitions = kPartitions});
  std::vector<std::string> names;
  for (const auto& node : nodes_) names.push_back(node->name());
  ShardMap map = spread_partitions(kIndex, names, kPartitions);
  for (const std::string& name : names) map.identities.push_back(hash128(name));
  const Status made = create_index(meta, connect_from(process),
                                   {.map = std::move(map), .centroids = std::move(*centroids)},
                                   {.clock = &simulation_.clock()});
  KIN_CHECK(made.ok(), made.ok() ? "" : made.error().message.c_str());
  network_.stop_process(process);
}

void ClusterRun::live() {
  create();
  // Seeds differ in what goes wrong, too.
  const auto chance = [&](FaultKind kind, std::uint64_t from) {
    Random random = random_of(kind);
    return !has(kind) || random.below(3) == 0 ? 0 : from + random.below(4 * from);
  };
  network_.set(
      {.loss = chance(kLoss, 10), .twice = chance(kTwice, 10), .very_late = chance(kVeryLate, 30)});
  const NodeFaults faults{.crash_in_request = chance(kCrashInRequest, 40),
                          .slow = chance(kSlow, 30),
                          .sabotage = options_.sabotage};
  for (const auto& node : nodes_) node->set(faults);
  acting_ = options_.clients;
  for (std::size_t client = 0; client < options_.clients; ++client)
    simulation_.spawn([this, client] { act(client); });
  simulation_.spawn([this] { break_things(); });
  while (acting_ > 0) simulation_.clock().sleep_for(milliseconds{100});
  end_faults();
  const std::shared_ptr<RouterLife> last = router(0);
  get(*last->router);
  list(*last->router, false);
  for (std::size_t key = 0; key < options_.keys; ++key) {
    search_key(*last->router, key);
    read_edge(*last->router, key, index::Direction::kIn);
  }
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
  SimulatedNode& node = *nodes_[random.below(nodes_.size())];
  const milliseconds pause{random.below(2'000)};
  switch (random.below(8)) {
    case 0: return node.crash(pause);
    case 1: {
      const std::size_t number = random.below(lives_.size());
      const auto life = std::exchange(lives_[number], nullptr);
      if (life == nullptr) return;
      simulation_.note(fmt::format("router{} is killed", number));
      return network_.stop_process(life->process);
    }
    case 2: {
      const std::string machine = fmt::format("router{}", random.below(lives_.size()));
      simulation_.note(machine + " and " + node.name() + " are cut off");
      network_.cut_off(machine, node.name());
      return simulation_.after(pause, [this] { network_.heal(); });
    }
    case 3: return meta_.crash(pause);
    default: return node.step();
  }
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
                              .text = index::text_options(index::ShardOptions{})});
  if (!opened.ok()) return nullptr;
  life->router = std::move(*opened);
  return life;
}

std::shared_ptr<RouterLife> ClusterRun::router(std::size_t number) {
  while (lives_[number] == nullptr) {
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
    act_once(*life->router, random);
  }
  --acting_;
}

void ClusterRun::act_once(Router& router, Random& random) {
  const std::size_t key = random.below(options_.keys);
  switch (random.below(12)) {
    case 0:
    case 1:
    case 2: return put(router, {key}, random);
    case 3: return put(router, {key, (key + 1) % options_.keys}, random);
    case 4:
    case 5: return remove(router, key);
    case 6: return get(router);
    case 7: return search_key(router, key);
    case 8: return search_state(router, key, random);
    case 9: return list(router, random.below(2) == 0);
    case 10: return read_edge(router, key, index::Direction::kOut);
    default: return read_edge(router, key, index::Direction::kIn);
  }
}

// The entity's text, and the weight of its only edge, say which write made them.
std::vector<index::Mutation> ClusterRun::mutations_for(std::size_t key, KeyState state,
                                                       Random& random) {
  index::PutEntity put;
  put.entity.id = key_id(key);
  put.entity.key = key_name(key);
  put.entity.source = "test";
  put.entity.text = fmt::format("{} state{}", key_name(key), state);
  put.entity.vectors = {{"main",
                         {static_cast<float>(random.unit()), static_cast<float>(random.unit()),
                          static_cast<float>(random.unit()), static_cast<float>(random.unit())}}};
  index::SetEdges edges{.from = put.entity.id, .name = "next"};
  index::Edge edge;
  edge.id = {.from = put.entity.id, .name = "next", .to = key_id((key + 1) % options_.keys)};
  edge.weight = static_cast<double>(state);
  edges.edges = {edge};
  return {std::move(put), std::move(edges)};
}

void ClusterRun::put(Router& router, std::vector<std::size_t> keys, Random& random) {
  std::vector<index::Mutation> mutations;
  std::vector<KeyState> states;
  for (const std::size_t key : keys) {
    states.push_back(++last_state_);
    for (auto& one : mutations_for(key, states.back(), random)) mutations.push_back(std::move(one));
    simulation_.note(fmt::format("put {} = {}", key_name(key), states.back()));
  }
  const SteadyTime begun = simulation_.now();
  const auto written = router.write(mutations);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto outcome = written.ok() ? written->outcomes[2 * i] : std::nullopt;
    if (outcome && outcome->effect != index::Effect::kDone)
      violate(fmt::format("a put had effect {}", static_cast<int>(outcome->effect)));
    wrote(keys[i], states[i], begun, outcome.has_value());
  }
}

void ClusterRun::remove(Router& router, std::size_t key) {
  simulation_.note("remove " + key_name(key));
  const std::vector<index::Mutation> mutations{index::RemoveEntity{.id = key_id(key)}};
  const SteadyTime begun = simulation_.now();
  const auto written = router.write(mutations);
  wrote(key, 0, begun, written.ok() && written->outcomes[0].has_value());
}

void ClusterRun::wrote(std::size_t key, KeyState state, SteadyTime begun, bool known) {
  const std::string what = fmt::format("write {} = {}", key_name(key), state);
  simulation_.note((known ? "done: " : "unknown: ") + what);
  Operation operation{.state = state, .begun = begun, .what = what};
  if (known)
    operation.ended = simulation_.now();
  else
    ++report_.unknown;
  history_.add(key, std::move(operation));
}

void ClusterRun::saw(std::size_t key, Kind kind, KeyState state, SteadyTime begun,
                     const std::string& how) {
  const char* relation = kind == Kind::kSees ? "is" : kind == Kind::kExists ? "exists," : "is not";
  const std::string what = fmt::format("{}: {} {} {}", how, key_name(key), relation, state);
  simulation_.note(what);
  history_.add(
      key,
      {.kind = kind, .state = state, .begun = begun, .ended = simulation_.now(), .what = what});
}

void ClusterRun::violate(const std::string& what) {
  simulation_.note("VIOLATION: " + what);
  if (!report_.violation) report_.violation = what;
}

KeyState state_in(const std::string& text) {
  return std::stoull(text.substr(text.find("state") + 5));
}

void ClusterRun::get(Router& router) {
  std::vector<DocId> ids;
  for (std::size_t key = 0; key < options_.keys; ++key) ids.push_back(key_id(key));
  const SteadyTime begun = simulation_.now();
  const auto found = router.get(ids);
  if (!found.ok()) return void(++report_.failed);
  for (std::size_t key = 0; key < ids.size(); ++key) {
    const auto& entity = (*found)[key];
    saw(key, Kind::kSees, entity ? state_in(entity->entity.text) : 0, begun, "get");
  }
}

void ClusterRun::search_key(Router& router, std::size_t key) {
  const index::TextLeg leg{.query = key_name(key)};
  const SteadyTime begun = simulation_.now();
  const auto found = router.search({.text = leg}, {.show = Show{.text = leg}});
  if (!found.ok()) return void(++report_.failed);
  const auto& hits = found->found.hits;
  if (hits.size() > 1) return violate("a search finds an entity twice");
  if (hits.empty()) return saw(key, Kind::kSees, 0, begun, "search");
  KeyState state = 0;  // unless it was removed after it was found
  for (const index::HitSnippet& snippet : found->shown.snippets[0]) {
    if (snippet.field == "text") state = state_in(snippet.part);
  }
  saw(key, Kind::kSees, state, begun, "search");
}

void ClusterRun::search_state(Router& router, std::size_t key, Random& random) {
  const KeyState state = 1 + random.below(last_state_ + 1);
  const index::TextLeg leg{.query = fmt::format("+{} +state{}", key_name(key), state)};
  const SteadyTime begun = simulation_.now();
  const auto found = router.search({.text = leg});
  if (!found.ok()) return void(++report_.failed);
  if (found->found.hits.size() > 1) return violate("a search finds an entity twice");
  saw(key, found->found.hits.empty() ? Kind::kSeesOther : Kind::kSees, state, begun,
      "search for a state");
}

void ClusterRun::list(Router& router, bool by_vector) {
  index::ShardQuery query{.k = 1'000};
  if (by_vector)
    query.vector = index::VectorLeg{.vector = {0.5F, 0.5F, 0.5F, 0.5F}, .exact = true};
  else
    query.count = true;
  const SteadyTime begun = simulation_.now();
  const auto found = router.search(query);
  if (!found.ok()) return void(++report_.failed);
  std::vector<DocId> ids;
  for (const index::ShardHit& hit : found->found.hits) ids.push_back(hit.doc.id);
  if (found->found.count && *found->found.count != ids.size())
    violate("two shards hold the same entity");
  for (std::size_t key = 0; key < options_.keys; ++key) {
    const auto times = std::ranges::count(ids, key_id(key));
    if (times > 1) violate("a list has an entity twice");
    saw(key, times == 1 ? Kind::kExists : Kind::kSees, 0, begun, by_vector ? "nearest" : "list");
  }
}

void ClusterRun::read_edge(Router& router, std::size_t key, index::Direction direction) {
  const bool out = direction == index::Direction::kOut;
  const DocId from = key_id(out ? key : (key + 1) % options_.keys);
  const SteadyTime begun = simulation_.now();
  const auto found =
      router.traverse({.from = {from}, .direction = direction, .missing = index::Missing::kVisit});
  if (!found.ok()) return void(++report_.failed);
  KeyState state = 0;
  int edges = 0;
  for (const index::GraphEdge& edge : found->edges) {
    if (edge.id.from != key_id(key)) continue;
    state = static_cast<KeyState>(edge.weight);
    ++edges;
  }
  if (edges > 1) violate("an edge is there twice");
  saw(key, Kind::kSees, state, begun, out ? "edges out" : "edges in");
}

}  // namespace

RunReport run_cluster(const RunOptions& options) {
  return ClusterRun(options).run();
}

}  // namespace kin::router
