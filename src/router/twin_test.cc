// An index over four shards answers as one shard does that holds everything.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "base/file.h"
#include "base/hash.h"
#include "base/random.h"
#include "base/testing/source_folder.h"
#include "data/json_value.h"
#include "index/text_leg.h"
#include "router/testing/local_cluster.h"

namespace kin::router {
namespace {

constexpr std::uint32_t kDimension = 24;

// Each word has a direction: texts with the same words are near to each other.
std::vector<float> vector_of(std::string_view text) {
  std::vector<float> sum(kDimension, 0.001F);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    Random random(hash64(text.substr(at, end - at)));
    if (end - at > 4) {
      for (float& value : sum) value += static_cast<float>(random.unit() - 0.5);
    }
    at = end + 1;
  }
  return sum;
}

std::vector<data::JsonValue> read_lines(const std::string& name) {
  std::ifstream file(std::string(source_folder()) + "/tests/collections/topics/" + name);
  std::vector<data::JsonValue> all;
  for (std::string line; std::getline(file, line);) all.push_back(*data::parse_json(line));
  return all;
}

std::vector<index::Entity> read_documents() {
  std::vector<index::Entity> all;
  for (const data::JsonValue& line : read_lines("docs.jsonl")) {
    index::Entity entity;
    entity.key = line["id"].text();
    entity.source = "topics";
    entity.id = doc_id_of("topics", entity.key);
    entity.title = line["title"].text();
    entity.text = line["text"].text();
    for (const data::JsonValue& tag : line["tags"].items()) entity.tags.emplace_back(tag.text());
    entity.vectors = {{"main", vector_of(entity.text)}};
    all.push_back(std::move(entity));
  }
  // Copies score the same as what they are copies of: the older one comes first.
  const std::size_t originals = all.size();
  for (std::size_t i = 0; i < originals; i += 3) {
    for (const char* name : {"again", "once more"}) {
      index::Entity copy = all[i];
      copy.key += name;
      copy.id = doc_id_of("topics", copy.key);
      all.push_back(std::move(copy));
    }
  }
  return all;
}

class TwinTest : public testing::Test {
 protected:
  struct Data {
    std::vector<index::Entity> documents = read_documents();
    std::vector<std::string> queries;
    SimulatedDisk disk;
    std::unique_ptr<index::Shard> one;
    std::unique_ptr<LocalCluster> many;
  };

  static index::ShardOptions shard_options() {
    index::ShardOptions options;
    options.spaces = {
        {.name = "main", .space = {.dimension = kDimension, .storage = index::RawStorage::kF32}}};
    return options;
  }

  static void SetUpTestSuite() {
    data_ = std::make_unique<Data>();
    for (const data::JsonValue& line : read_lines("queries.jsonl"))
      data_->queries.emplace_back(line["text"].text());
    index::ShardOptions options = shard_options();
    LocalClusterOptions cluster{.shard = options};
    for (std::size_t i = 0; i < data_->documents.size(); i += 2)
      cluster.sample.push_back(data_->documents[i].vectors[0].values);
    data_->many = std::make_unique<LocalCluster>(cluster);
    options.truth.engine = kv::StoreOptions::Engine::kLog;
    options.truth.disk = &data_->disk;
    data_->one = std::move(*index::Shard::open("/one", options));
    fill();
  }
  static void TearDownTestSuite() { data_.reset(); }

  static void fill() {
    std::vector<index::Mutation> mutations;
    Random random(7);
    const auto& documents = data_->documents;
    for (const index::Entity& entity : documents)
      mutations.push_back(index::PutEntity{.entity = entity});
    for (std::size_t i = 0; i < documents.size(); ++i) {
      for (int links = 0; links < 2; ++links) {
        index::PutEdge put;
        put.edge.id = {.from = documents[i].id,
                       .name = random.below(3) == 0 ? "cites" : "near",
                       .to = documents[random.below(documents.size())].id};
        put.edge.weight = 0.5 + random.unit();
        mutations.emplace_back(put);
      }
      mutations.push_back(index::AddFragment{
          .id = documents[i].id, .fragment = {.time = 5, .text = "noted " + documents[i].title}});
    }
    const auto written = data_->many->router().write(mutations);
    KIN_CHECK(written.ok() && written->problems.empty(), "everything is written");
    for (const auto& outcome : written->outcomes)
      KIN_CHECK(outcome && outcome->effect == index::Effect::kDone, "everything is written");
    KIN_CHECK(data_->one->apply(mutations).ok(), "everything is written");
  }

  static Router& router() { return data_->many->router(); }

  static void expect_same(std::span<const index::Stage> stages) {
    const auto one = index::run_pipeline(data_->one->view(), stages);
    const auto many = router().run_pipeline(stages);
    ASSERT_TRUE(one.ok() && many.ok()) << (many.ok() ? "" : many.error().message);
    const auto& hits = many->found.hits;
    ASSERT_EQ(hits.size(), one->hits.size());
    for (std::size_t i = 0; i < hits.size(); ++i) {
      EXPECT_EQ(hits[i].score, one->hits[i].score) << i;
      EXPECT_EQ(hits[i].doc, one->hits[i].doc) << i;
      EXPECT_EQ(hits[i].legs.size(), one->hits[i].legs.size()) << i;
      EXPECT_EQ(hits[i].trace.has_value(), one->hits[i].trace.has_value()) << i;
    }
  }

  static void expect_same(const index::ShardQuery& query) {
    const auto one = index::search(data_->one->view(), query);
    const auto many = router().search(query);
    ASSERT_TRUE(one.ok() && many.ok()) << (many.ok() ? "" : many.error().message);
    const auto& found = many->found;
    ASSERT_EQ(found.hits.size(), one->hits.size());
    for (std::size_t i = 0; i < one->hits.size(); ++i) {
      EXPECT_EQ(found.hits[i].score, one->hits[i].score) << i;
      EXPECT_EQ(found.hits[i].doc, one->hits[i].doc) << i;
    }
    EXPECT_EQ(found.count, one->count);
    ASSERT_EQ(found.facets.size(), one->facets.size());
    for (std::size_t f = 0; f < one->facets.size(); ++f) {
      ASSERT_EQ(found.facets[f].values.size(), one->facets[f].values.size());
      for (std::size_t v = 0; v < one->facets[f].values.size(); ++v) {
        EXPECT_EQ(found.facets[f].values[v].value, one->facets[f].values[v].value);
        EXPECT_EQ(found.facets[f].values[v].count, one->facets[f].values[v].count);
      }
    }
  }

  static inline std::unique_ptr<Data> data_;
};

TEST_F(TwinTest, EveryShardHasDocumentsAndNeighboursAreTogether) {
  std::size_t same = 0;
  for (std::size_t shard = 0; shard < 4; ++shard)
    EXPECT_GT(data_->many->host(shard).shard().stats().counters.entities, 0U);
  for (const index::Entity& entity : data_->documents) {
    const auto near = index::search(
        data_->one->view(),
        {.vector = index::VectorLeg{.vector = entity.vectors[0].values, .exact = true}, .k = 2});
    const std::array<DocId, 2> pair{near->hits[0].doc.id, near->hits[1].doc.id};
    const auto got = router().get(pair);
    same += (*got)[0]->head.partition == (*got)[1]->head.partition ? 1 : 0;
  }
  EXPECT_GT(same * 2, data_->documents.size());
}

TEST_F(TwinTest, WordsFindTheSame) {
  ASSERT_EQ(data_->queries.size(), 48U);
  for (const std::string& text : data_->queries) {
    SCOPED_TRACE(text);
    expect_same({.text = index::TextLeg{.query = text},
                 .count = true,
                 .facets = {"tag", "type", "source", "validity"}});
    expect_same({.text = index::TextLeg{.query = text, .fuzzy = 1}, .k = 25, .offset = 5});
  }
  for (const char* text : {"+ebb +spring", "ebb -moon", "\"level of the\"", "ha*", "tag:sea", "*"})
    expect_same({.text = index::TextLeg{.query = text}, .count = true, .facets = {"tag"}});
}

TEST_F(TwinTest, VectorsFindTheSameIfNothingMayBeMissed) {
  for (const std::string& text : data_->queries)
    expect_same({.vector = index::VectorLeg{.vector = vector_of(text), .exact = true}});
}

TEST_F(TwinTest, BothTogetherFindTheSame) {
  for (const std::string& text : data_->queries) {
    for (const auto how : {index::Fusion::kAlpha, index::Fusion::kRrf}) {
      expect_same({.text = index::TextLeg{.query = text},
                   .vector = index::VectorLeg{.vector = vector_of(text), .exact = true},
                   .fusion = {.how = how, .alpha = 0.4},
                   .count = true,
                   .facets = {"tag", "type"}});
    }
  }
}

TEST_F(TwinTest, ListsHaveEverythingOnceFromTheOldestOn) {
  const auto all = router().search({.k = 10'000, .count = true});
  ASSERT_TRUE(all.ok());
  std::set<index::DocIdentity> seen;
  for (const auto& hit : all->found.hits) EXPECT_TRUE(seen.insert(hit.doc).second);
  EXPECT_EQ(all->found.count, seen.size());
  EXPECT_EQ(seen.size(), 2 * data_->documents.size());
  expect_same({.k = 10'000, .count = true, .facets = {"tag"}});
  expect_same({.k = 7, .offset = 30});
}

TEST_F(TwinTest, WordsAloneCanBeCounted) {
  for (const std::string& text : data_->queries) {
    expect_same({.text = index::TextLeg{.query = text},
                 .vector = index::VectorLeg{.vector = vector_of(text), .exact = true},
                 .count = true,
                 .facets = {"tag"},
                 .words_only = true});
  }
}

TEST_F(TwinTest, LinksLeadToTheSame) {
  for (std::size_t i = 0; i < 20; ++i) {
    for (const auto direction :
         {index::Direction::kOut, index::Direction::kIn, index::Direction::kBoth}) {
      index::ShardQuery query{
          .graph = index::GraphStart{.from = {data_->documents[i].id, data_->documents[i + 1].id}},
          .expand = {.hops = 2, .direction = direction},
          .k = 30,
          .facets = {"tag", "type"}};
      expect_same(query);
      query.scope.filters = {{"tag", data_->documents[i].tags.at(0)}};
      query.expand.edges.names = {"near"};
      expect_same(query);
    }
  }
}

TEST_F(TwinTest, NeighboursOfHitsJoinThem) {
  for (const std::string& text : data_->queries) {
    SCOPED_TRACE(text);
    index::ShardQuery query{.text = index::TextLeg{.query = text},
                            .expand = {.hops = 1},
                            .k = 25,
                            .count = true,
                            .facets = {"tag"}};
    expect_same(query);
    query.vector = index::VectorLeg{.vector = vector_of(text), .exact = true};
    query.expand = {.hops = 2, .direction = index::Direction::kOut, .decay = 0.7, .most = 40};
    query.offset = 5;
    query.scope.filters = {{"tag", "sea"}};
    expect_same(query);
  }
}

TEST_F(TwinTest, PipelinesFindTheSame) {
  for (std::size_t i = 0; i + 1 < data_->queries.size(); ++i) {
    SCOPED_TRACE(data_->queries[i]);
    index::ShardQuery words{.text = index::TextLeg{.query = data_->queries[i]}, .k = 40};
    index::ShardQuery others{.text = index::TextLeg{.query = data_->queries[i + 1]}, .k = 20};
    const index::ShardQuery near{
        .vector = index::VectorLeg{.vector = vector_of(data_->queries[i + 1]), .exact = true},
        .k = 15};
    const index::FilterStage filter{.scope = {.filters = {{"tag", "sea"}}}};
    const index::ExpandStage links{.expand = {.hops = 1}};
    const std::vector<std::vector<index::Stage>> pipelines{
        {index::FindStage{words}, index::FindStage{.query = others, .keep = 0.3}},
        {index::FindStage{words}, links, filter, index::LimitStage{12}},
        {index::FindStage{words}, filter, links, index::FindStage{.query = near, .keep = 0.5}},
        {index::FindStage{near}, index::FindStage{.query = words, .keep = 1}},
    };
    for (const auto& stages : pipelines) expect_same(stages);
  }
}

TEST_F(TwinTest, PipelinesThatMakeNoSenseAreRefused) {
  const auto complaint = [&](const std::vector<index::Stage>& stages) {
    const auto found = router().run_pipeline(stages);
    return found.ok() ? std::string() : found.error().message;
  };
  EXPECT_THAT(complaint({}), testing::HasSubstr("at least one stage"));
  EXPECT_THAT(complaint({index::LimitStage{}}), testing::HasSubstr("stage 1: the first stage"));
  EXPECT_THAT(complaint({index::FindStage{}, index::ExpandStage{}}),
              testing::HasSubstr("stage 2: an expansion needs"));
}

TEST_F(TwinTest, ScoresAreExplainedByTheStatisticsOfAllShards) {
  std::size_t explained = 0;
  for (const std::string& text : data_->queries) {
    const index::TextLeg leg{.query = text};
    // More than a page, so that some hits are shown by a second round of calls.
    const index::ShardQuery query{.text = leg, .k = 60};
    const auto many = router().search(query, {.show = Show{.text = leg, .explain = true}});
    ASSERT_TRUE(many.ok()) << many.error().message;
    const index::ShardView one = data_->one->view();
    const auto words = index::parse_leg(leg, one.text().options());
    std::vector<index::DocIdentity> docs;
    for (const auto& hit : many->found.hits) docs.push_back(hit.doc);
    const auto documents = index::read_documents(one.truth(), docs);
    ASSERT_EQ(many->shown.explanations.size(), docs.size());
    for (std::size_t i = 0; i < docs.size(); ++i) {
      const auto wanted = index::explain_text(one, *words, *(*documents)[i]);
      const auto& given = many->shown.explanations[i];
      ASSERT_TRUE(wanted && given) << text;
      EXPECT_EQ(given->score, wanted->score);
      EXPECT_EQ(given->average_length, wanted->average_length);
      ASSERT_EQ(given->terms.size(), wanted->terms.size());
      for (std::size_t t = 0; t < wanted->terms.size(); ++t) {
        EXPECT_EQ(given->terms[t].term, wanted->terms[t].term);
        EXPECT_EQ(given->terms[t].score, wanted->terms[t].score);
        EXPECT_EQ(given->terms[t].documents, wanted->terms[t].documents);
        ++explained;
      }
    }
  }
  EXPECT_GT(explained, 100U);
}

TEST_F(TwinTest, TracesOfLinksAreTheSame) {
  const index::ShardQuery query{.graph = index::GraphStart{.from = {data_->documents[3].id}},
                                .expand = {.hops = 3},
                                .k = 100};
  const auto one = index::search(data_->one->view(), query);
  const auto many = router().search(query);
  ASSERT_TRUE(one.ok() && many.ok());
  ASSERT_EQ(many->found.hits.size(), one->hits.size());
  ASSERT_FALSE(one->hits.empty());
  for (std::size_t i = 0; i < one->hits.size(); ++i) {
    EXPECT_EQ(many->found.hits[i].trace->edges, one->hits[i].trace->edges);
    EXPECT_EQ(many->found.hits[i].trace->by, one->hits[i].trace->by);
  }
}

TEST_F(TwinTest, NearVectorsAreFoundWithoutAskingEveryShard) {
  std::size_t found = 0, wanted = 0, asked = 0, searches = 0;
  // Documents ask for documents: as real queries do, they lie where documents lie.
  for (std::size_t i = 1; i < data_->documents.size(); i += 2) {
    index::VectorLeg leg{.vector = data_->documents[i].vectors[0].values, .recall = 0.95};
    const auto many = router().search({.vector = leg});
    ASSERT_TRUE(many.ok());
    asked += many->asked;
    ++searches;
    leg.exact = true;
    const auto one = index::search(data_->one->view(), {.vector = leg});
    for (const auto& hit : one->hits) {
      ++wanted;
      found += std::ranges::count(many->found.hits, hit.doc, &index::ShardHit::doc);
    }
  }
  EXPECT_GT(static_cast<double>(found) / static_cast<double>(wanted), 0.95);
  EXPECT_LT(asked, 4 * searches);
  RecordProperty("recall_per_mille", static_cast<int>(1000 * found / wanted));
  RecordProperty("shards_asked_percent", static_cast<int>(25 * asked / searches));
}

TEST_F(TwinTest, WordsThatFewHaveAreNotAskedOfAll) {
  const auto rare = router().search({.text = index::TextLeg{.query = "syzygy"}});
  ASSERT_TRUE(rare.ok());
  EXPECT_LT(rare->asked, 4U);
  EXPECT_FALSE(rare->found.hits.empty());
}

TEST_F(TwinTest, WalksReachTheSame) {
  for (const auto direction :
       {index::Direction::kOut, index::Direction::kIn, index::Direction::kBoth}) {
    for (std::size_t i = 0; i < 20; ++i) {
      const index::TraverseRequest request{
          .from = {data_->documents[i].id}, .direction = direction, .hops = 3};
      const auto one = *index::traverse(data_->one->view().truth(), request);
      const auto many = router().traverse(request);
      ASSERT_TRUE(many.ok()) << many.error().message;
      const auto reached = [](const index::Traversal& walk) {
        std::set<std::pair<std::uint32_t, DocId>> all;
        for (const auto& node : walk.nodes) all.emplace(node.hops, node.id);
        return all;
      };
      EXPECT_EQ(reached(*many), reached(one));
      EXPECT_EQ(many->edges, one.edges);
      EXPECT_TRUE(many->complete);
    }
  }
}

TEST_F(TwinTest, ShortestPathsAreAsShort) {
  Random random(3);
  using Cost = index::PathRequest::Cost;
  for (int i = 0; i < 30; ++i) {
    for (const Cost cost : {Cost::kHops, Cost::kWeight, Cost::kInverseWeight}) {
      const index::PathRequest request{
          .from = data_->documents[random.below(data_->documents.size())].id,
          .to = data_->documents[random.below(data_->documents.size())].id,
          .filter = {.names = {"near"}},
          .cost = cost};
      const auto one = *index::shortest_path(data_->one->view().truth(), request);
      const auto many = router().shortest_path(request);
      ASSERT_TRUE(many.ok()) << many.error().message;
      ASSERT_EQ(many->has_value(), one.has_value());
      if (!one) continue;
      EXPECT_NEAR((*many)->cost, one->cost, 1e-9);
      EXPECT_EQ((*many)->nodes.size(), (*many)->edges.size() + 1);
      EXPECT_EQ((*many)->nodes.back(), request.to);
    }
  }
}

}  // namespace
}  // namespace kin::router
