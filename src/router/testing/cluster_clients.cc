#include "router/testing/cluster_clients.h"

#include <fmt/format.h>

#include <algorithm>

namespace kin::router {
namespace {

std::string key_name(std::size_t key) {
  return fmt::format("key{}", key);
}

KeyState state_in(const std::string& text) {
  return std::stoull(text.substr(text.find("state") + 5));
}

}  // namespace

DocId key_id(std::size_t key) {
  return doc_id_of("test", key_name(key));
}

void ClusterClients::act(Router& router, Random& random) {
  const std::size_t key = random.below(options_.keys);
  if (options_.contended)
    return random.below(3) == 0 ? put(router, {key}, random) : get(router, current());
  switch (random.below(12)) {
    case 0:
    case 1:
    case 2: return put(router, {key}, random);
    case 3: return put(router, {key, (key + 1) % options_.keys}, random);
    case 4:
    case 5: return remove(router, key);
    case 6: return get(router, draw_reading(random));
    case 7: return search_key(router, key, draw_reading(random));
    case 8: {
      const KeyState state = 1 + random.below(last_state_ + 1);
      return search_state(router, key, state, draw_reading(random));
    }
    case 9: {
      const bool by_vector = random.below(2) == 0 && !options_.crash;
      return list(router, by_vector, draw_reading(random));
    }
    case 10: return read_edge(router, key, index::Direction::kOut, draw_reading(random));
    default: return read_edge(router, key, index::Direction::kIn, draw_reading(random));
  }
}

ClusterClients::Reading ClusterClients::draw_reading(Random& random) const {
  Reading reading = current();
  if (options_.followers > 0 && random.below(2) == 0)
    reading.staleness.most = std::chrono::milliseconds{random.below(5'000)};
  return reading;
}

// The entity's text, and the weight of its only edge, say which write made them.
std::vector<index::Mutation> ClusterClients::mutations_for(std::size_t key, KeyState state,
                                                           Random& random) {
  index::PutEntity put;
  put.entity.id = key_id(key);
  put.entity.key = key_name(key);
  put.entity.source = "test";
  put.entity.text = fmt::format("{} state{}", key_name(key), state);
  // Without a vector the partition is known.
  if ((!options_.crash || options_.divides) && !options_.contended)
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

void ClusterClients::put(Router& router, std::vector<std::size_t> keys, Random& random) {
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

void ClusterClients::remove(Router& router, std::size_t key) {
  simulation_.note("remove " + key_name(key));
  const std::vector<index::Mutation> mutations{index::RemoveEntity{.id = key_id(key)}};
  const SteadyTime begun = simulation_.now();
  const auto written = router.write(mutations);
  wrote(key, 0, begun, written.ok() && written->outcomes[0].has_value());
}

void ClusterClients::wrote(std::size_t key, KeyState state, SteadyTime begun, bool known) {
  const std::string what = fmt::format("write {} = {}", key_name(key), state);
  simulation_.note((known ? "done: " : "unknown: ") + what);
  Operation operation{.state = state, .begun = begun, .what = what};
  if (known)
    operation.ended = simulation_.now();
  else
    ++report_.unknown;
  history_.add(key, std::move(operation));
}

void ClusterClients::saw(std::size_t key, Kind kind, KeyState state, const Reading& reading,
                         const std::string& how) {
  const auto& behind = reading.staleness.behind;
  if (behind && *behind > reading.staleness.most)
    violate("a read was answered from an older state than it takes");
  report_.stale += behind ? 1 : 0;
  const char* relation = kind == Kind::kSees ? "is" : kind == Kind::kExists ? "exists," : "is not";
  const std::string age = behind ? fmt::format(", {} ms ago", behind->count()) : "";
  const std::string what = fmt::format("{}: {} {} {}{}", how, key_name(key), relation, state, age);
  simulation_.note(what);
  history_.add(key, {.kind = kind,
                     .state = state,
                     .begun = reading.begun - behind.value_or(std::chrono::milliseconds{0}),
                     .ended = simulation_.now(),
                     .what = what});
}

void ClusterClients::violate(const std::string& what) {
  simulation_.note("VIOLATION: " + what);
  if (!report_.violation) report_.violation = what;
}

void ClusterClients::get(Router& router, Reading reading) {
  std::vector<DocId> ids;
  for (std::size_t key = 0; key < options_.keys; ++key) ids.push_back(key_id(key));
  const auto found = router.get(ids, {}, &reading.staleness);
  if (!found.ok()) return void(++report_.failed);
  for (std::size_t key = 0; key < ids.size(); ++key) {
    const auto& entity = (*found)[key];
    saw(key, Kind::kSees, entity ? state_in(entity->entity.text) : 0, reading, "get");
  }
}

void ClusterClients::search_key(Router& router, std::size_t key, Reading reading) {
  const index::TextLeg leg{.query = key_name(key)};
  const auto found =
      router.search({.text = leg}, {.show = Show{.text = leg}, .staleness = &reading.staleness});
  if (!found.ok()) return void(++report_.failed);
  const auto& hits = found->found.hits;
  if (hits.size() > 1) return violate("a search finds an entity twice");
  if (hits.empty()) return saw(key, Kind::kSees, 0, reading, "search");
  KeyState state = 0;  // unless it was removed after it was found
  for (const index::HitSnippet& snippet : found->shown.snippets[0]) {
    if (snippet.field == "text") state = state_in(snippet.part);
  }
  saw(key, Kind::kSees, state, reading, "search");
}

void ClusterClients::search_state(Router& router, std::size_t key, KeyState state,
                                  Reading reading) {
  const index::TextLeg leg{.query = fmt::format("+{} +state{}", key_name(key), state)};
  const auto found = router.search({.text = leg}, {.staleness = &reading.staleness});
  if (!found.ok()) return void(++report_.failed);
  if (found->found.hits.size() > 1) return violate("a search finds an entity twice");
  saw(key, found->found.hits.empty() ? Kind::kSeesOther : Kind::kSees, state, reading,
      "search for a state");
}

void ClusterClients::list(Router& router, bool by_vector, Reading reading) {
  index::ShardQuery query{.k = 1'000};
  if (by_vector)
    query.vector = index::VectorLeg{.vector = {0.5F, 0.5F, 0.5F, 0.5F}, .exact = true};
  else
    query.count = true;
  const auto found = router.search(query, {.staleness = &reading.staleness});
  if (!found.ok()) return void(++report_.failed);
  std::vector<DocId> ids;
  for (const index::ShardHit& hit : found->found.hits) ids.push_back(hit.doc.id);
  if (found->found.count && *found->found.count != ids.size())
    violate("two shards hold the same entity");
  for (std::size_t key = 0; key < options_.keys; ++key) {
    const auto times = std::ranges::count(ids, key_id(key));
    if (times > 1) violate("a list has an entity twice");
    saw(key, times == 1 ? Kind::kExists : Kind::kSees, 0, reading, by_vector ? "nearest" : "list");
  }
}

void ClusterClients::read_edge(Router& router, std::size_t key, index::Direction direction,
                               Reading reading) {
  const bool out = direction == index::Direction::kOut;
  const DocId from = key_id(out ? key : (key + 1) % options_.keys);
  const auto found =
      router.traverse({.from = {from}, .direction = direction, .missing = index::Missing::kVisit},
                      &reading.staleness);
  if (!found.ok()) return void(++report_.failed);
  KeyState state = 0;
  int edges = 0;
  for (const index::GraphEdge& edge : found->edges) {
    if (edge.id.from != key_id(key)) continue;
    state = static_cast<KeyState>(edge.weight);
    ++edges;
  }
  if (edges > 1) violate("an edge is there twice");
  saw(key, Kind::kSees, state, reading, out ? "edges out" : "edges in");
}

void ClusterClients::read_all(Router& router) {
  get(router, current());
  list(router, false, current());
  for (std::size_t key = 0; key < options_.keys; ++key) {
    search_key(router, key, current());
    read_edge(router, key, index::Direction::kIn, current());
  }
}

}  // namespace kin::router
