// The truth against maps: random mutations, read back as of random moments, over reopenings.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/file.h"
#include "index/graph.h"
#include "index/testing/random_mutations.h"
#include "index/truth/truth.h"

namespace kin::index {
namespace {

// (from, name, to), without the period.
using Pair = std::tuple<DocId, std::string, DocId>;
Pair pair_of(const EdgeId& id) {
  return {id.from, id.name, id.to};
}

// The contracts of mutation.h, over maps.
class Model {
 public:
  struct Node {
    Entity entity;
    PartitionId partition{};
    Version version;
  };
  using Said = std::pair<Millis, std::string>;

  // `version` is the version that the truth gave the mutation.
  Effect apply(const Mutation& mutation, const Version& version) {
    version_ = version;
    return std::visit([this](const auto& one) { return run(one); }, mutation);
  }

  std::map<DocId, Node> nodes;
  std::map<EdgeId, Edge> links;
  std::map<DocId, std::set<Said>> said;
  std::map<Pair, std::set<Said>> said_of_links;
  Owners owners;

 private:
  bool refuses(PartitionId partition) const {
    const auto owner = owners.find(partition);
    return !owners.empty() && (owner == owners.end() || !owner->second.owned);
  }
  PartitionId partition_of(const DocId& id) const {
    const auto found = partitions_.find(id);
    return found == partitions_.end() ? PartitionId{} : found->second;
  }

  Effect run(const PutEntity& put) {
    const DocId& id = put.entity.id;
    const PartitionId partition = put.partition.value_or(partition_of(id));
    if (nodes.contains(id) && refuses(partition_of(id))) return Effect::kNotOwned;
    if (refuses(partition)) return Effect::kNotOwned;
    partitions_[id] = partition;
    nodes[id] = {put.entity, partition, version_};
    return Effect::kDone;
  }

  Effect run(const RemoveEntity& remove) {
    if (!nodes.contains(remove.id)) return Effect::kAbsent;
    if (refuses(partition_of(remove.id))) return Effect::kNotOwned;
    nodes.erase(remove.id);
    std::erase_if(links, [&](const auto& link) { return link.first.from == remove.id; });
    std::erase_if(said_of_links,
                  [&](const auto& one) { return std::get<0>(one.first) == remove.id; });
    said.erase(remove.id);
    return Effect::kDone;
  }

  Effect run(const AssignPartition& assign) {
    const auto node = nodes.find(assign.id);
    if (node == nodes.end()) return Effect::kAbsent;
    if (refuses(node->second.partition) || refuses(assign.partition)) return Effect::kNotOwned;
    if (node->second.partition == assign.partition) return Effect::kStale;
    node->second.partition = partitions_[assign.id] = assign.partition;
    return Effect::kDone;
  }

  Effect run(const AssignOwner& assign) {
    const Ownership owner{.epoch = assign.epoch, .owned = assign.owned};
    const auto known = owners.find(assign.partition);
    if (known != owners.end() && known->second == owner) return Effect::kDone;
    if (known != owners.end() && owner.epoch <= known->second.epoch) return Effect::kStale;
    owners[assign.partition] = owner;
    return Effect::kDone;
  }

  Effect run(const PutEdge& put) {
    if (refuses(partition_of(put.edge.id.from))) return Effect::kNotOwned;
    links[put.edge.id] = put.edge;
    return Effect::kDone;
  }

  Effect run(const SetEdges& set) {
    if (refuses(partition_of(set.from))) return Effect::kNotOwned;
    std::map<EdgeId, Edge> wanted;
    for (const Edge& edge : set.edges) wanted[edge.id] = edge;
    std::vector<EdgeId> gone;
    for (const auto& [id, link] : links) {
      const bool ours = id.from == set.from && id.name == set.name;
      if (ours && !wanted.contains(id)) gone.push_back(id);
      if (ours && wanted.contains(id) && wanted[id] == link) wanted.erase(id);
    }
    for (const EdgeId& id : gone) remove_period(id);
    for (const auto& [id, edge] : wanted) links[id] = edge;
    return gone.empty() && wanted.empty() ? Effect::kStale : Effect::kDone;
  }

  Effect run(const CloseEdge& close) {
    if (refuses(partition_of(close.from))) return Effect::kNotOwned;
    auto last = links.end();
    for (auto link = links.begin(); link != links.end(); ++link) {
      const Validity period{.from = link->first.since, .until = link->second.until};
      const bool same = pair_of(link->first) == Pair{close.from, close.name, close.to};
      if (same && period.holds_at(close.at)) last = link;
    }
    if (last == links.end()) return Effect::kAbsent;
    if (last->first.since == close.at) return remove_period(last->first);
    last->second.until = close.at;
    return Effect::kDone;
  }

  Effect run(const RemoveEdge& remove) {
    if (refuses(partition_of(remove.edge.from))) return Effect::kNotOwned;
    return links.contains(remove.edge) ? remove_period(remove.edge) : Effect::kAbsent;
  }

  Effect remove_period(const EdgeId id) {
    links.erase(id);
    if (!holds(pair_of(id))) said_of_links.erase(pair_of(id));
    return Effect::kDone;
  }

  Effect run(const AddFragment& add) {
    if (!nodes.contains(add.id)) return Effect::kAbsent;
    if (refuses(partition_of(add.id))) return Effect::kNotOwned;
    return say(said[add.id], add.fragment);
  }

  Effect run(const AddEdgeFragment& add) {
    if (refuses(partition_of(add.from))) return Effect::kNotOwned;
    const Pair pair{add.from, add.name, add.to};
    return holds(pair) ? say(said_of_links[pair], add.fragment) : Effect::kAbsent;
  }

  static Effect say(std::set<Said>& all, const Fragment& fragment) {
    return all.emplace(fragment.time, fragment.text).second ? Effect::kDone : Effect::kStale;
  }

  bool holds(const Pair& pair) const {
    return std::any_of(links.begin(), links.end(),
                       [&](const auto& link) { return pair_of(link.first) == pair; });
  }

  Version version_;
  std::map<DocId, PartitionId> partitions_;  // where an entity is or was
};

class TruthModelTest : public testing::TestWithParam<std::uint64_t>, protected RandomMutations {
 protected:
  TruthModelTest() : RandomMutations(GetParam()) {}

  void reopen() {
    truth_.reset();
    auto opened = Truth::open(folder_.path() / "truth", {});
    ASSERT_TRUE(opened.ok());
    truth_ = std::move(*opened);
  }

  void step() {
    std::vector<Mutation> mutations;
    for (std::uint64_t i = 1 + below(6); i > 0; --i) mutations.push_back(any_mutation());
    const auto applied = truth_->apply(mutations, {.sync = false});
    ASSERT_TRUE(applied.ok());
    for (std::size_t i = 0; i < mutations.size(); ++i) {
      const Outcome& outcome = applied->outcomes[i];
      ASSERT_EQ(model_.apply(mutations[i], outcome.version), outcome.effect) << "mutation " << i;
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
          const Validity period{.from = id.since, .until = link.until};
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
          ASSERT_EQ(edge.weight, model_.links.at(edge.id).weight);
          ASSERT_EQ(edge.until, model_.links.at(edge.id).until);
          const auto stored = *view.edge(edge.id);
          ASSERT_EQ(stored->edge, model_.links.at(edge.id));
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
    const auto expected = [&](const std::set<Model::Said>& all) {
      std::vector<Model::Said> shown;
      for (const auto& said : all) {
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

  // An index that follows the changelog ends with exactly the numbers in use.
  void check_followers(const TruthView& view) {
    for (;;) {
      const ChangesPage page = *view.changes({.after = followed_, .limit = 50});
      if (page.changes.empty()) break;
      for (const Change& change : page.changes) {
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
    ASSERT_EQ(*view.owners(), model_.owners);
    ASSERT_NO_FATAL_FAILURE(check_nodes(view));
    ASSERT_NO_FATAL_FAILURE(check_partitions(view));
    ASSERT_NO_FATAL_FAILURE(check_links(view));
    ASSERT_NO_FATAL_FAILURE(check_said(view));
    ASSERT_NO_FATAL_FAILURE(check_followers(view));
  }

  TemporaryFolder folder_ = std::move(*TemporaryFolder::create());
  std::unique_ptr<Truth> truth_;
  Model model_;
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
