// The truth against maps: random mutations, read back as of random moments, over reopenings.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/file.h"
#include "base/random.h"
#include "index/graph.h"
#include "index/truth/truth.h"

namespace kin::index {
namespace {

constexpr std::uint64_t kKeys = 12;
constexpr Millis kMoments = 20;
constexpr std::uint64_t kEpoch = 1;

DocId id_of(std::uint64_t key) {
  return doc_id_of("model", std::to_string(key));
}

// (from, name, to), without the period.
using Pair = std::tuple<DocId, std::string, DocId>;
Pair pair_of(const EdgeId& id) {
  return {id.from, id.name, id.to};
}

// What the contracts of truth_mutation.h say, over maps.
class Model {
 public:
  struct Node {
    Entity entity;
    PartitionId partition{};
    Version version;
    Version born;
  };
  struct Link {
    Edge edge;
    Version version;
  };
  using Said = std::pair<Millis, std::string>;

  Effect apply(const Mutation& mutation, Lsn next_lsn) {
    next_ = {.epoch = kEpoch, .lsn = next_lsn};
    return std::visit([this](const auto& one) { return run(one); }, mutation);
  }

  std::map<DocId, Node> nodes;
  std::map<EdgeId, Link> links;
  std::map<DocId, std::map<Said, Version>> said;
  std::map<Pair, std::map<Said, Version>> said_of_links;

 private:
  Version version(const std::optional<Version>& given) const { return given.value_or(next_); }

  template <typename Map, typename Key>
  static bool is_older(const Map& map, const Key& key, const Version& than) {
    const auto found = map.find(key);
    return found == map.end() || found->second < than;
  }

  Effect run(const PutEntity& put) {
    const Version now = version(put.version);
    const DocId& id = put.entity.id;
    if (!is_older(heads_, id, now)) return Effect::kStale;
    heads_[id] = now;
    const bool there = nodes.contains(id);
    const PartitionId partition = put.partition.value_or(partitions_[id]);
    partitions_[id] = partition;
    nodes[id] = {put.entity, partition, now, there ? nodes[id].born : now};
    return Effect::kDone;
  }

  Effect run(const RemoveEntity& remove) {
    if (!nodes.contains(remove.id) && !remove.version) return Effect::kAbsent;
    const Version now = version(remove.version);
    if (!is_older(heads_, remove.id, now)) return Effect::kStale;
    heads_[remove.id] = now;
    nodes.erase(remove.id);
    for (auto link = links.begin(); link != links.end();) {
      const bool goes = link->first.from == remove.id && link->second.version < now;
      if (goes) periods_[link->first] = now;
      link = goes ? links.erase(link) : std::next(link);
    }
    for (auto& [pair, all] : said_of_links) {
      if (std::get<0>(pair) == remove.id) forget(all, now);
    }
    forget(said[remove.id], now);
    return Effect::kDone;
  }

  Effect run(const AssignPartition& assign) {
    const auto node = nodes.find(assign.id);
    if (node == nodes.end()) return Effect::kAbsent;
    if (node->second.partition == assign.partition) return Effect::kStale;
    node->second.partition = partitions_[assign.id] = assign.partition;
    return Effect::kDone;
  }

  Effect run(const PutEdge& put) {
    const Version now = version(put.version);
    if (!is_older(periods_, put.edge.id, now)) return Effect::kStale;
    periods_[put.edge.id] = now;
    links[put.edge.id] = {put.edge, now};
    return Effect::kDone;
  }

  Effect run(const SetEdges& set) {
    const Version now = version(set.version);
    std::map<EdgeId, Edge> wanted;
    for (const Edge& edge : set.edges) wanted[edge.id] = edge;
    std::vector<EdgeId> gone;
    for (const auto& [id, link] : links) {
      const bool ours = id.from == set.from && id.name == set.name;
      if (ours && !wanted.contains(id) && link.version < now) gone.push_back(id);
      if (ours && wanted.contains(id) && wanted[id] == link.edge) wanted.erase(id);
    }
    Effect effect = gone.empty() ? Effect::kStale : Effect::kDone;
    for (const EdgeId& id : gone) remove_period(id, now);
    for (const auto& [id, edge] : wanted) {
      if (run(PutEdge{.edge = edge, .version = now}) == Effect::kDone) effect = Effect::kDone;
    }
    return effect;
  }

  Effect run(const CloseEdge& close) {
    auto last = links.end();
    for (auto link = links.begin(); link != links.end(); ++link) {
      const Validity period{.from = link->first.since, .until = link->second.edge.until};
      const bool same = pair_of(link->first) == Pair{close.from, close.name, close.to};
      if (same && period.holds_at(close.at)) last = link;
    }
    if (last == links.end()) return Effect::kAbsent;
    const Version now = version(close.version);
    if (now <= last->second.version) return Effect::kStale;
    if (last->first.since == close.at) return remove_period(last->first, now);
    periods_[last->first] = last->second.version = now;
    last->second.edge.until = close.at;
    return Effect::kDone;
  }

  Effect run(const RemoveEdge& remove) {
    if (!links.contains(remove.edge) && !remove.version) return Effect::kAbsent;
    const Version now = version(remove.version);
    if (!is_older(periods_, remove.edge, now)) return Effect::kStale;
    return remove_period(remove.edge, now);
  }

  Effect remove_period(const EdgeId id, const Version& now) {
    periods_[id] = now;
    links.erase(id);
    if (!holds(pair_of(id))) forget(said_of_links[pair_of(id)], now);
    return Effect::kDone;
  }

  Effect run(const AddFragment& add) {
    const auto node = nodes.find(add.id);
    if (node == nodes.end()) return Effect::kAbsent;
    const Version now = version(add.version);
    if (now < node->second.born) return Effect::kStale;
    return say(said[add.id], add.fragment, now);
  }

  Effect run(const AddEdgeFragment& add) {
    const Pair pair{add.from, add.name, add.to};
    if (!holds(pair)) return Effect::kAbsent;
    return say(said_of_links[pair], add.fragment, version(add.version));
  }

  static Effect say(std::map<Said, Version>& all, const Fragment& fragment, const Version& now) {
    return all.emplace(Said{fragment.time, fragment.text}, now).second ? Effect::kDone
                                                                       : Effect::kStale;
  }

  bool holds(const Pair& pair) const {
    return std::any_of(links.begin(), links.end(),
                       [&](const auto& link) { return pair_of(link.first) == pair; });
  }

  static void forget(std::map<Said, Version>& all, const Version& now) {
    std::erase_if(all, [&](const auto& one) { return one.second < now; });
  }

  Version next_;
  std::map<DocId, Version> heads_;           // of entities, there or deleted
  std::map<EdgeId, Version> periods_;        // of edges, there or removed
  std::map<DocId, PartitionId> partitions_;  // where an entity is or was
};

class TruthModelTest : public testing::TestWithParam<std::uint64_t> {
 protected:
  void reopen() {
    truth_.reset();
    auto opened = Truth::open(folder_.path() / "truth", {.epoch = kEpoch});
    ASSERT_TRUE(opened.ok());
    truth_ = std::move(*opened);
  }

  std::uint64_t below(std::uint64_t bound) { return random_.below(bound); }
  DocId any_id() { return id_of(below(kKeys)); }
  std::string any_name() { return below(2) == 0 ? "cites" : "knows"; }
  Millis any_moment() { return static_cast<Millis>(below(kMoments)); }
  std::optional<Version> any_version() {
    if (below(3) != 0) return {};
    return Version{.epoch = below(3), .lsn = below(2 * truth_->last_lsn() + 10)};
  }

  Entity any_entity() {
    const std::uint64_t key = below(kKeys);
    Entity entity;
    entity.id = id_of(key);
    entity.key = std::to_string(key);
    entity.source = below(2) == 0 ? "one" : "two";
    entity.title = std::to_string(below(1'000));
    entity.text = std::string(below(600), 'x') + entity.title;
    if (below(2) == 0) entity.tags = {"t" + std::to_string(below(5))};
    if (below(2) == 0) entity.attributes = {{"n", static_cast<std::int64_t>(below(9))}};
    if (below(2) == 0) entity.vectors.push_back({"words", {static_cast<float>(below(99)), 1}});
    if (below(3) == 0) entity.vectors.push_back({"model", {static_cast<float>(below(99))}});
    if (below(2) == 0) entity.summaries = {"s" + std::to_string(below(3))};
    const Millis from = any_moment();
    if (below(2) == 0) entity.valid = {.from = from, .until = from + 1 + any_moment()};
    return entity;
  }

  EdgeId any_edge_id() {
    const Millis since = below(2) == 0 ? kBeginning : any_moment();
    return {.from = any_id(), .name = any_name(), .to = any_id(), .since = since};
  }

  Edge any_edge() {
    Edge edge{.id = any_edge_id(), .weight = static_cast<double>(below(10))};
    if (below(2) == 0) edge.until = std::max<Millis>(edge.id.since, 0) + 1 + any_moment();
    if (below(3) == 0) edge.summary = "s" + std::to_string(below(3));
    return edge;
  }

  Fragment any_fragment() { return {any_moment(), std::to_string(below(3))}; }

  Mutation any_mutation() {
    switch (below(13)) {
      case 0: return RemoveEntity{.id = any_id(), .version = any_version()};
      case 1:
        return AssignPartition{.id = any_id(),
                               .partition = PartitionId{static_cast<std::uint32_t>(below(3))}};
      case 2:
        return CloseEdge{.from = any_id(),
                         .name = any_name(),
                         .to = any_id(),
                         .at = any_moment(),
                         .version = any_version()};
      case 3: return RemoveEdge{.edge = any_edge_id(), .version = any_version()};
      case 4:
        return AddFragment{.id = any_id(), .fragment = any_fragment(), .version = any_version()};
      case 5:
        return AddEdgeFragment{.from = any_id(),
                               .name = any_name(),
                               .to = any_id(),
                               .fragment = any_fragment(),
                               .version = any_version()};
      case 12: {
        SetEdges set{.from = any_id(), .name = any_name(), .version = any_version()};
        std::map<EdgeId, Edge> edges;
        for (std::uint64_t i = below(3); i > 0; --i) {
          Edge edge = any_edge();
          edge.id.from = set.from;
          edge.id.name = set.name;
          edges.emplace(edge.id, edge);
        }
        for (const auto& [id, edge] : edges) set.edges.push_back(edge);
        return set;
      }
      case 6:
      case 7:
      case 8: {
        PutEntity put{.entity = any_entity(), .version = any_version()};
        if (below(3) == 0) put.partition = PartitionId{static_cast<std::uint32_t>(below(3))};
        return put;
      }
      default: return PutEdge{.edge = any_edge(), .version = any_version()};
    }
  }

  // The version that a mutation gets depends on how many changes those before it made, so the
  // model is told it by the outcome.
  void step() {
    std::vector<Mutation> mutations;
    for (std::uint64_t i = 1 + below(6); i > 0; --i) mutations.push_back(any_mutation());
    const auto applied = truth_->apply(mutations, {.sync = false});
    ASSERT_TRUE(applied.ok());
    for (std::size_t i = 0; i < mutations.size(); ++i) {
      const Outcome& outcome = applied->outcomes[i];
      // What was not done has no version; it would have had at least this one.
      const Lsn lsn = outcome.effect == Effect::kDone ? outcome.version.lsn : applied->first;
      ASSERT_EQ(model_.apply(mutations[i], lsn), outcome.effect) << "mutation " << i;
    }
  }

  void check_nodes(const TruthView& view) {
    const std::optional<Millis> as_of =
        below(2) == 0 ? std::optional<Millis>(any_moment()) : std::nullopt;
    for (std::uint64_t key = 0; key < kKeys; ++key) {
      const auto found = *view.get(id_of(key), {.as_of = as_of});
      const auto node = model_.nodes.find(id_of(key));
      const bool there =
          node != model_.nodes.end() && (!as_of || node->second.entity.valid.holds_at(*as_of));
      ASSERT_EQ(found.has_value(), there);
      if (!there) continue;
      ASSERT_EQ(found->entity, node->second.entity);
      ASSERT_EQ(found->head.partition, node->second.partition);
      ASSERT_EQ(found->head.version, node->second.version);
    }
    ASSERT_EQ(view.counters().entities, model_.nodes.size());
  }

  void check_partitions(const TruthView& view) {
    for (std::uint32_t partition = 0; partition < 3; ++partition) {
      std::set<DocId> expected;
      for (const auto& [id, node] : model_.nodes) {
        if (node.partition == PartitionId{partition}) expected.insert(id);
      }
      std::set<DocId> found;
      std::optional<DocNumber> after;
      do {
        const ScanPage page =
            *view.scan({.partition = PartitionId{partition}, .after = after, .limit = 3});
        for (const StoredEntity& stored : page.entities) found.insert(stored.entity.id);
        after = page.next;
      } while (after);
      ASSERT_EQ(found, expected);
    }
  }

  void check_links(const TruthView& view) {
    EdgeFilter filter;
    if (below(2) == 0) filter.as_of = any_moment();
    if (below(2) == 0) filter.names = {any_name()};
    for (std::uint64_t key = 0; key < kKeys; ++key) {
      for (const Direction direction : {Direction::kOut, Direction::kIn}) {
        std::set<EdgeId> expected;
        for (const auto& [id, link] : model_.links) {
          const Validity period{.from = id.since, .until = link.edge.until};
          const DocId& end = direction == Direction::kOut ? id.from : id.to;
          const bool named = filter.names.empty() || filter.names[0] == id.name;
          if (end == id_of(key) && named && (!filter.as_of || period.holds_at(*filter.as_of)))
            expected.insert(id);
        }
        const auto found =
            *edges(view, {.node = id_of(key), .direction = direction, .filter = filter});
        std::set<EdgeId> ids;
        for (const GraphEdge& edge : found) {
          ids.insert(edge.id);
          ASSERT_EQ(edge.weight, model_.links.at(edge.id).edge.weight);
          ASSERT_EQ(edge.until, model_.links.at(edge.id).edge.until);
          const auto stored = *view.edge(edge.id);
          ASSERT_EQ(stored->edge, model_.links.at(edge.id).edge);
        }
        ASSERT_EQ(ids, expected);
      }
    }
    ASSERT_EQ(view.counters().edges, model_.links.size());
  }

  static std::vector<Model::Said> texts(const std::vector<StoredFragment>& fragments) {
    std::vector<Model::Said> all;
    for (const StoredFragment& stored : fragments)
      all.emplace_back(stored.fragment.time, stored.fragment.text);
    std::sort(all.begin(), all.end());
    return all;
  }

  void check_said(const TruthView& view) {
    const Millis now = any_moment();
    const auto expected = [&](const std::map<Model::Said, Version>& all) {
      std::vector<Model::Said> shown;
      for (const auto& [said, version] : all) {
        if (said.first <= now) shown.push_back(said);
      }
      return shown;
    };
    for (const auto& [id, all] : model_.said)
      ASSERT_EQ(texts(*view.fragments(id, {.until = now + 1})), expected(all));
    for (const auto& [pair, all] : model_.said_of_links) {
      const EdgeId id{
          .from = std::get<0>(pair), .name = std::get<1>(pair), .to = std::get<2>(pair)};
      ASSERT_EQ(texts(*view.fragments(id, {.until = now + 1})), expected(all));
    }
  }

  // An index that follows the changelog has the numbers that stand for something.
  void check_followers(const TruthView& view) {
    for (;;) {
      const auto changes = *view.changes({.after = followed_, .limit = 50});
      if (changes.empty()) break;
      for (const Change& change : changes) {
        ASSERT_EQ(change.lsn, ++followed_);
        numbers_.erase(change.retired);
        if (change.number != kNoNumber) numbers_.insert(change.number);
      }
    }
    std::set<DocNumber> there;
    for (kv::Cursor at = view.rows(kDocumentsFamily); at.valid(); at.next())
      there.insert(*decode_document_key(at.key()));
    ASSERT_EQ(numbers_, there);
    std::size_t contents = 0;
    for (kv::Cursor at = view.rows(kContentsFamily); at.valid(); at.next()) ++contents;
    ASSERT_EQ(contents, model_.nodes.size());
  }

  void check_all() {
    const TruthView view = std::move(*truth_->view());
    ASSERT_NO_FATAL_FAILURE(check_nodes(view));
    ASSERT_NO_FATAL_FAILURE(check_partitions(view));
    ASSERT_NO_FATAL_FAILURE(check_links(view));
    ASSERT_NO_FATAL_FAILURE(check_said(view));
    ASSERT_NO_FATAL_FAILURE(check_followers(view));
  }

  TemporaryFolder folder_ = std::move(*TemporaryFolder::create());
  std::unique_ptr<Truth> truth_;
  Model model_;
  Random random_{GetParam()};
  Lsn followed_ = 0;
  std::set<DocNumber> numbers_;
};

TEST_P(TruthModelTest, AgreesWithMaps) {
  ASSERT_NO_FATAL_FAILURE(reopen());
  for (int round = 0; round < 1'500; ++round) {
    ASSERT_NO_FATAL_FAILURE(step()) << "round " << round;
    if (round % 10 == 0) {
      ASSERT_NO_FATAL_FAILURE(check_all()) << "round " << round;
    }
    if (round % 500 == 499) {
      ASSERT_NO_FATAL_FAILURE(reopen());
    }
    if (round % 400 == 399) {
      ASSERT_TRUE(truth_->flush().ok());
    }
    if (round % 300 == 299) {
      ASSERT_TRUE(truth_->trim_changes(followed_ / 2).ok());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, TruthModelTest, testing::Range(std::uint64_t{1}, std::uint64_t{5}));

}  // namespace
}  // namespace kin::index
