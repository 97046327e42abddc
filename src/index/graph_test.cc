#include "index/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <queue>
#include <set>

#include "base/random.h"
#include "index/testing/truth_fixture.h"

namespace kin::index {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class GraphTest : public TruthFixture {
 protected:
  struct Arrow {
    std::string from;
    std::string to;
    std::string name = "cites";
    double weight = 1;
    Millis since = kBeginning;
    Millis until = kForever;
  };

  void nodes(const std::vector<std::string>& keys) {
    std::vector<Mutation> all;
    for (const std::string& key : keys) {
      all.emplace_back(PutEntity{.entity = made(key)});
      names_[id(key)] = key;
    }
    do_all(all);
  }

  void arrows(const std::vector<Arrow>& arrows) {
    std::vector<Mutation> all;
    for (const Arrow& arrow : arrows) {
      Edge made = edge(arrow.from, arrow.name, arrow.to);
      made.id.since = arrow.since;
      made.until = arrow.until;
      made.weight = arrow.weight;
      all.emplace_back(PutEdge{.edge = made});
      names_[id(arrow.from)] = arrow.from;
      names_[id(arrow.to)] = arrow.to;
    }
    do_all(all);
  }

  std::string show(const GraphEdge& edge) {
    return names_[edge.id.from] + " " + edge.id.name + " " + names_[edge.id.to];
  }

  std::vector<std::string> edges_of(const EdgeQuery& query) {
    const TruthView now = view();
    const auto found = edges(now, query);
    KIN_CHECK(found.ok(), "edges are read");
    std::vector<std::string> shown;
    for (const GraphEdge& edge : *found) shown.push_back(show(edge));
    return shown;
  }

  Traversal reach(const TraverseRequest& request) {
    const TruthView now = view();
    auto found = traverse(now, request);
    KIN_CHECK(found.ok(), "the graph is traversed");
    return std::move(*found);
  }

  std::vector<std::string> reached(const TraverseRequest& request) {
    std::vector<std::string> shown;
    const Traversal found = reach(request);
    for (const Reached& node : found.nodes)
      shown.push_back(names_[node.id] + std::to_string(node.hops));
    return shown;
  }

  std::string path(const PathRequest& request) {
    const TruthView now = view();
    const auto found = shortest_path(now, request);
    if (!found.ok()) return found.error().message;
    if (!*found) return "none";
    std::string shown;
    for (const DocId& node : (*found)->nodes) shown += names_[node];
    EXPECT_EQ((*found)->edges.size() + 1, (*found)->nodes.size());
    return shown;
  }

  std::map<DocId, std::string> names_;
};

TEST_F(GraphTest, FindsEdgesBothWaysByName) {
  arrows({{"a", "b"}, {"a", "c"}, {"b", "a"}, {"a", "b", "likes"}});
  EXPECT_THAT(edges_of({.node = id("a")}),
              UnorderedElementsAre("a cites b", "a cites c", "a likes b"));
  EXPECT_THAT(edges_of({.node = id("a"), .direction = Direction::kIn}), ElementsAre("b cites a"));
  EXPECT_THAT(edges_of({.node = id("a"), .filter = {.names = {"likes", "never"}}}),
              ElementsAre("a likes b"));
  EXPECT_THAT(edges_of({.node = id("a"), .filter = {.names = {"never"}}}), IsEmpty());
  EXPECT_THAT(edges_of({.node = id("b"), .direction = Direction::kBoth}).size(), 3U);
  EXPECT_THAT(edges_of({.node = id("nobody")}), IsEmpty());
}

TEST_F(GraphTest, AnEdgeToItselfIsMetOnce) {
  arrows({{"a", "a"}});
  EXPECT_THAT(edges_of({.node = id("a"), .direction = Direction::kBoth}), ElementsAre("a cites a"));
}

TEST_F(GraphTest, FindsEdgesByTimeAndWeight) {
  arrows({{"a", "b", "x", 3, 10, 20}, {"a", "c", "x", 1, 20, 30}, {"a", "d", "x", 2}});
  using Order = EdgeQuery::Order;
  EXPECT_THAT(edges_of({.node = id("a"), .filter = {.as_of = 15}}),
              UnorderedElementsAre("a x b", "a x d"));
  EXPECT_THAT(edges_of({.node = id("a"), .filter = {.as_of = 20}}),
              UnorderedElementsAre("a x c", "a x d"));
  EXPECT_THAT(edges_of({.node = id("a"), .filter = {.during = Validity{.from = 5, .until = 10}}}),
              ElementsAre("a x d"));
  EXPECT_THAT(edges_of({.node = id("a"), .filter = {.min_weight = 2}, .order = Order::kHeaviest}),
              ElementsAre("a x b", "a x d"));
  EXPECT_THAT(edges_of({.node = id("a"), .order = Order::kHeaviest, .limit = 1}),
              ElementsAre("a x b"));
  EXPECT_THAT(edges_of({.node = id("a"), .order = Order::kNewest}),
              ElementsAre("a x c", "a x b", "a x d"));
  EXPECT_THAT(edges_of({.node = id("c"), .direction = Direction::kIn, .filter = {.as_of = 19}}),
              IsEmpty());
}

TEST_F(GraphTest, AClosedEdgeHoldsUntilItWasClosedAndMayHoldAgain) {
  arrows({{"a", "b", "knows", 1, 10}});
  do_all({CloseEdge{.from = id("a"), .name = "knows", .to = id("b"), .at = 20}});
  arrows({{"a", "b", "knows", 1, 30}});
  const auto holds = [&](Millis at) {
    const std::size_t out = edges_of({.node = id("a"), .filter = {.as_of = at}}).size();
    const std::size_t in =
        edges_of({.node = id("b"), .direction = Direction::kIn, .filter = {.as_of = at}}).size();
    EXPECT_EQ(out, in);
    return out == 1;
  };
  EXPECT_FALSE(holds(9));
  EXPECT_TRUE(holds(10));
  EXPECT_TRUE(holds(19));
  EXPECT_FALSE(holds(20));
  EXPECT_TRUE(holds(30));
  EXPECT_EQ(do_all({CloseEdge{.from = id("a"), .name = "knows", .to = id("b"), .at = 25}})
                .outcomes[0]
                .effect,
            Effect::kAbsent);
}

TEST_F(GraphTest, TraversesCyclesOnceWithTheFewestHops) {
  nodes({"a", "b", "c", "d"});
  arrows({{"a", "b"}, {"b", "c"}, {"c", "a"}, {"a", "c"}, {"c", "d"}});
  EXPECT_THAT(reached({.from = {id("a")}, .hops = 5}),
              UnorderedElementsAre("a0", "b1", "c1", "d2"));
  EXPECT_THAT(reached({.from = {id("a")}, .hops = 1}), UnorderedElementsAre("a0", "b1", "c1"));
  EXPECT_THAT(reached({.from = {id("d")}, .direction = Direction::kIn, .hops = 1}),
              UnorderedElementsAre("d0", "c1"));
  const Traversal all = reach({.from = {id("a")}, .direction = Direction::kBoth, .hops = 5});
  EXPECT_TRUE(all.complete);
  EXPECT_EQ(all.edges.size(), 5U);
}

TEST_F(GraphTest, LimitsAreKeptAndToldOf) {
  std::vector<std::string> keys{"hub"};
  std::vector<Arrow> spokes;
  for (int i = 0; i < 50; ++i) {
    keys.push_back("n" + std::to_string(i));
    spokes.push_back({"hub", keys.back()});
  }
  nodes(keys);
  arrows(spokes);
  const Traversal few = reach({.from = {id("hub")}, .hops = 2, .max_nodes = 10});
  EXPECT_EQ(few.nodes.size(), 10U);
  EXPECT_FALSE(few.complete);
  const Traversal narrow = reach({.from = {id("hub")}, .hops = 2, .max_edges = 7});
  EXPECT_EQ(narrow.nodes.size(), 8U);
  EXPECT_FALSE(narrow.complete);
  const Traversal fan = reach({.from = {id("hub")}, .hops = 2, .max_fan_out = 3});
  EXPECT_EQ(fan.nodes.size(), 4U);
  EXPECT_FALSE(fan.complete);
  EXPECT_TRUE(reach({.from = {id("hub")}, .hops = 2}).complete);
}

TEST_F(GraphTest, WhatIsNotThereIsSkippedUnlessAskedFor) {
  nodes({"a", "c"});
  arrows({{"a", "gone"}, {"gone", "c"}});
  EXPECT_THAT(reached({.from = {id("a")}, .hops = 3}), ElementsAre("a0"));
  EXPECT_THAT(reached({.from = {id("a")}, .hops = 3, .missing = Missing::kVisit}),
              ElementsAre("a0", "gone1", "c2"));
  EXPECT_EQ(path({.from = id("a"), .to = id("c")}), "none");
  EXPECT_EQ(path({.from = id("a"), .to = id("c"), .missing = Missing::kVisit}), "agonec");
  do_all({RemoveEntity{.id = id("c")}});
  EXPECT_THAT(reached({.from = {id("c")}, .hops = 1}), IsEmpty());
}

TEST_F(GraphTest, FindsTheWayWithTheFewestHops) {
  nodes({"a", "b", "c", "d", "e"});
  arrows({{"a", "b"}, {"b", "c"}, {"c", "d"}, {"a", "e"}, {"e", "d"}, {"d", "a"}});
  EXPECT_EQ(path({.from = id("a"), .to = id("d")}), "aed");
  EXPECT_EQ(path({.from = id("d"), .to = id("c")}), "dabc");
  EXPECT_EQ(path({.from = id("d"), .to = id("c"), .max_hops = 2}), "none");
  EXPECT_EQ(path({.from = id("d"), .to = id("c"), .direction = Direction::kIn}), "dc");
  EXPECT_EQ(path({.from = id("d"), .to = id("c"), .direction = Direction::kBoth}), "dc");
  EXPECT_EQ(path({.from = id("a"), .to = id("a")}), "a");
  EXPECT_EQ(path({.from = id("a"), .to = id("nobody")}), "none");
}

TEST_F(GraphTest, FindsTheCheapestWay) {
  nodes({"a", "b", "c"});
  arrows({{"a", "c", "x", 5}, {"a", "b", "x", 2}, {"b", "c", "x", 2}});
  using Cost = PathRequest::Cost;
  EXPECT_EQ(path({.from = id("a"), .to = id("c"), .cost = Cost::kWeight}), "abc");
  EXPECT_EQ(path({.from = id("a"), .to = id("c"), .cost = Cost::kInverseWeight}), "ac");
  arrows({{"a", "b", "x", -2}});
  EXPECT_EQ(path({.from = id("a"), .to = id("c"), .cost = Cost::kWeight}),
            "an edge on the path has a negative weight");
}

// Against breadth-first search and Bellman-Ford over a matrix.
TEST_F(GraphTest, PathsAgreeWithBruteForceOnRandomGraphs) {
  constexpr int kNodes = 24;
  Random random(11);
  std::vector<std::string> keys;
  for (int i = 0; i < kNodes; ++i) keys.push_back("n" + std::to_string(i) + " ");
  nodes(keys);
  std::map<std::pair<int, int>, double> weights;
  std::vector<Arrow> all;
  for (int i = 0; i < 60; ++i) {
    const int from = static_cast<int>(random.below(kNodes));
    const int to = static_cast<int>(random.below(kNodes));
    const double weight = static_cast<double>(1 + random.below(9));
    weights[{from, to}] = weight;
    all.push_back({keys[static_cast<std::size_t>(from)], keys[static_cast<std::size_t>(to)],
                   "cites", weight});
  }
  arrows(all);
  constexpr double kNever = 1e9;
  std::vector<std::vector<double>> hops(kNodes, std::vector<double>(kNodes, kNever));
  std::vector<std::vector<double>> costs = hops;
  for (int i = 0; i < kNodes; ++i) hops[i][i] = costs[i][i] = 0;
  for (const auto& [ends, weight] : weights) {
    if (ends.first == ends.second) continue;
    hops[ends.first][ends.second] = 1;
    costs[ends.first][ends.second] = weight;
  }
  for (int k = 0; k < kNodes; ++k) {
    for (int i = 0; i < kNodes; ++i) {
      for (int j = 0; j < kNodes; ++j) {
        hops[i][j] = std::min(hops[i][j], hops[i][k] + hops[k][j]);
        costs[i][j] = std::min(costs[i][j], costs[i][k] + costs[k][j]);
      }
    }
  }
  const TruthView now = view();
  for (int i = 0; i < kNodes; ++i) {
    for (int j = 0; j < kNodes; ++j) {
      PathRequest request{.from = id(keys[static_cast<std::size_t>(i)]),
                          .to = id(keys[static_cast<std::size_t>(j)]),
                          .max_hops = 100};
      const auto shortest = *shortest_path(now, request);
      ASSERT_EQ(shortest ? shortest->cost : kNever, hops[i][j]) << i << " " << j;
      request.cost = PathRequest::Cost::kWeight;
      const auto cheapest = *shortest_path(now, request);
      ASSERT_EQ(cheapest ? cheapest->cost : kNever, costs[i][j]) << i << " " << j;
    }
  }
}

}  // namespace
}  // namespace kin::index
