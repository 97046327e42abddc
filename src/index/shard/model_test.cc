// A whole shard against maps and brute force: random mutations, steps, checkpoints, crashes.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "base/random.h"
#include "index/graph.h"
#include "index/testing/shard_fixture.h"

namespace kin::index {
namespace {

constexpr std::uint64_t kKeys = 60;
constexpr std::uint64_t kWords = 25;
constexpr Millis kMoments = 12;
constexpr std::uint32_t kDimension = 6;

// A simple model of the puts.
struct Model {
  struct Said {
    Millis time;
    std::string text;
    friend auto operator<=>(const Said&, const Said&) = default;
  };
  std::map<std::string, Entity> entities;
  std::map<EdgeId, Edge> edges;
  std::map<std::string, std::set<Said>> said;
};

class ShardModelTest : public ShardFixture, public testing::WithParamInterface<std::uint64_t> {
 protected:
  ShardModelTest() : random_(GetParam()) {}

  static ShardOptions options(RawStorage storage) {
    ShardOptions made;
    SpaceOptions given = given_space(kDimension);
    given.space.storage = storage;
    SpaceOptions computed = computed_space(1);
    made.spaces = {given, computed};
    made.cell_size = 8;
    return made;
  }

  std::string key() { return "k" + std::to_string(random_.below(kKeys)); }
  std::string word() { return "word" + std::to_string(random_.below(kWords)); }
  std::string words() {
    std::string text;
    for (std::uint64_t i = 1 + random_.below(6); i > 0; --i) text += word() + " ";
    return text;
  }
  Validity validity() {
    if (random_.below(2) == 0) return {};
    const auto from = static_cast<Millis>(random_.below(kMoments));
    return {.from = from, .until = from + 1 + static_cast<Millis>(random_.below(kMoments))};
  }
  std::vector<float> point() {
    std::vector<float> values;
    for (std::uint32_t i = 0; i < kDimension; ++i)
      values.push_back(static_cast<float>(random_.below(1'000)) / 100);
    return values;
  }

  void add_entity(std::vector<Mutation>& batch) {
    Entity entity = made(key(), words());
    entity.title = word();
    entity.valid = validity();
    if (random_.below(3) == 0) entity.tags = {"tag" + std::to_string(random_.below(4))};
    if (random_.below(4) == 0) entity.summaries = {words()};
    if (random_.below(5) != 0) entity = with_vector(entity, point());
    model_.entities[entity.key] = entity;
    batch.emplace_back(PutEntity{.entity = entity});
  }

  // Enough entities for vectors to get cells.
  void add_ballast() {
    std::vector<Mutation> batch;
    for (int i = 0; i < 2'100; ++i) {
      Entity entity = with_vector(made("b" + std::to_string(i)), point());
      model_.entities[entity.key] = entity;
      batch.emplace_back(PutEntity{.entity = entity});
    }
    apply(batch);
    step_all();
    EXPECT_GT(shard().stats().spaces[0].vectors.cells, 100U);
  }

  void remove_entity(std::vector<Mutation>& batch) {
    const std::string gone = key();
    batch.emplace_back(RemoveEntity{.id = id(gone)});
    if (model_.entities.erase(gone) == 0) return;
    model_.said.erase(gone);
    std::erase_if(model_.edges, [&](const auto& one) { return one.first.from == id(gone); });
  }

  void add_edge(std::vector<Mutation>& batch) {
    Edge put = edge(key(), "e" + std::to_string(random_.below(2)), key());
    put.id.since = validity().from;
    put.weight = static_cast<double>(random_.below(100));
    if (random_.below(2) == 0) put.summary = words();
    model_.edges[put.id] = put;
    batch.emplace_back(PutEdge{.edge = put});
  }

  void remove_edge(std::vector<Mutation>& batch) {
    if (model_.edges.empty()) return;
    auto at = model_.edges.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(random_.below(model_.edges.size())));
    batch.emplace_back(RemoveEdge{.edge = at->first});
    model_.edges.erase(at);
  }

  void add_fragment(std::vector<Mutation>& batch) {
    const std::string of = key();
    const Model::Said said{static_cast<Millis>(random_.below(kMoments)), words()};
    batch.emplace_back(
        AddFragment{.id = id(of), .fragment = {.time = said.time, .text = said.text}});
    if (model_.entities.contains(of)) model_.said[of].insert(said);
  }

  void apply_batch() {
    std::vector<Mutation> batch;
    for (std::uint64_t i = 1 + random_.below(25); i > 0; --i) {
      switch (random_.below(10)) {
        case 0: remove_entity(batch); break;
        case 1:
        case 2: add_edge(batch); break;
        case 3: remove_edge(batch); break;
        case 4: add_fragment(batch); break;
        default: add_entity(batch); break;
      }
    }
    apply(batch);
  }

  // The kind, validity and words of every document.
  struct Text {
    std::string words;
    Validity valid;
  };
  std::vector<Text> texts() const {
    std::vector<Text> all;
    for (const auto& [name, entity] : model_.entities) {
      std::string text = entity.title + " " + entity.text;
      for (const std::string& summary : entity.summaries) text += " " + summary;
      all.push_back({text, entity.valid});
    }
    for (const auto& [edge_id, one] : model_.edges)
      if (!one.summary.empty()) all.push_back({one.summary, {edge_id.since, one.until}});
    for (const auto& [name, fragments] : model_.said)
      for (const Model::Said& one : fragments) all.push_back({one.text, {.from = one.time}});
    return all;
  }

  static bool has(const std::string& text, const std::string& word) {
    return (" " + text + " ").find(" " + word + " ") != std::string::npos;
  }

  void expect_texts(const ShardView& view) {
    const std::vector<Text> all = texts();
    EXPECT_EQ(view.text().documents(), all.size());
    for (int i = 0; i < 4; ++i) {
      const std::string one = word();
      const std::string other = word();
      const std::optional<Millis> at =
          i % 2 == 0 ? std::optional<Millis>() : static_cast<Millis>(random_.below(kMoments));
      std::uint64_t either = 0;
      std::uint64_t both = 0;
      for (const Text& text : all) {
        if (at && !text.valid.holds_at(*at)) continue;
        const bool a = has(text.words, one);
        const bool b = has(text.words, other);
        either += a || b ? 1 : 0;
        both += a && b ? 1 : 0;
      }
      EXPECT_EQ(count(view, one + " OR " + other, at), either);
      EXPECT_EQ(count(view, one + " AND " + other, at), both);
    }
  }

  static std::uint64_t count(const ShardView& view, const std::string& query,
                             std::optional<Millis> at) {
    const auto parsed = parse_query(query, view.text().options());
    return *view.text().search(*parsed, {.k = 5, .valid_at = at, .count = true})->count;
  }

  using Ranked = std::vector<std::pair<float, std::string>>;

  void expect_nearest(const ShardView& view, const SpaceView& space, const Ranked& all,
                      const std::vector<float>& query) {
    for (const bool exact : {true, false}) {
      const VectorSearch how{
          .k = 7, .probes = 10'000U, .rerank = VectorSearch::Rerank::kAlways, .exact = exact};
      const auto hits = view.nearest(space, query, how);
      ASSERT_TRUE(hits.ok()) << hits.error().message;
      ASSERT_EQ(hits->size(), std::min<std::size_t>(7, all.size()));
      for (std::size_t i = 0; i < hits->size(); ++i) {
        ASSERT_NEAR((*hits)[i].distance, all[i].first, 1e-3 * (1 + all[i].first));
        const std::string name = name_of(view, (*hits)[i].id);
        const auto same = std::ranges::find(all, name, &Ranked::value_type::second);
        ASSERT_NE(same, all.end()) << name;
        ASSERT_NEAR(same->first, (*hits)[i].distance, 1e-3 * (1 + all[i].first));
      }
    }
  }

  Ranked ranked(const std::vector<float>& query,
                const std::function<std::vector<float>(const Entity&)>& vector_of) const {
    Ranked all;
    for (const auto& [name, entity] : model_.entities) {
      const std::vector<float> vector = vector_of(entity);
      if (!vector.empty()) all.emplace_back(exact_distance(Distance::kL2, query, vector), name);
    }
    std::ranges::sort(all);
    return all;
  }

  void expect_vectors(const ShardView& view) {
    const std::vector<float> query = point();
    const auto given = [](const Entity& entity) {
      return entity.vectors.empty() ? std::vector<float>() : entity.vectors[0].values;
    };
    expect_nearest(view, view.spaces()[0], ranked(query, given), query);
    const HashedWords source(1);
    const std::vector<float> of_words = source.made(words());
    const auto computed = [&](const Entity& entity) { return source.made(entity.text); };
    expect_nearest(view, view.spaces()[1], ranked(of_words, computed), of_words);
  }

  void expect_graph(const ShardView& view) {
    EXPECT_EQ(view.truth().counters().entities, model_.entities.size());
    EXPECT_EQ(view.truth().counters().edges, model_.edges.size());
    const DocId node = id(key());
    for (const Direction direction : {Direction::kOut, Direction::kIn}) {
      std::multiset<double> weights;
      for (const auto& [edge_id, one] : model_.edges)
        if ((direction == Direction::kOut ? edge_id.from : edge_id.to) == node)
          weights.insert(one.weight);
      std::multiset<double> found_weights;
      const auto around = edges(view.truth(), {.node = node, .direction = direction});
      for (const GraphEdge& one : *around) found_weights.insert(one.weight);
      EXPECT_EQ(found_weights, weights);
    }
  }

  void expect_same() {
    const ShardView view = shard().view();
    expect_texts(view);
    expect_vectors(view);
    expect_graph(view);
  }

  Random random_;
  Model model_;
};

TEST_P(ShardModelTest, AgreesWithMapsAndBruteForce) {
  const ShardOptions made =
      options(GetParam() % 2 == 0 ? RawStorage::kF32 : RawStorage::kElsewhere);
  open(made);
  if (GetParam() >= 4) add_ballast();
  for (int round = 0; round < 60 && !HasFailure(); ++round) {
    apply_batch();
    const std::uint64_t what = random_.below(12);
    if (what < 4) {
      ASSERT_TRUE(shard().step().ok());
    } else if (what == 4) {
      step_all();
    } else if (what == 5) {
      ASSERT_TRUE(shard().checkpoint().ok());
    } else if (what == 6) {
      drop();
      open(made);
    } else if (what == 7) {
      ASSERT_TRUE(shard().close().ok());
      drop();
      open(made);
    }
    expect_same();
    if (round % 15 == 14) expect_clean();
  }
  expect_clean();
}

INSTANTIATE_TEST_SUITE_P(Seeds, ShardModelTest, testing::Range<std::uint64_t>(0, 6));

}  // namespace
}  // namespace kin::index
