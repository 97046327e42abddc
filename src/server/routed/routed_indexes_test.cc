#include "server/routed/routed_indexes.h"

#include <gmock/gmock.h>

#include <cmath>
#include <set>

#include "base/file.h"
#include "base/random.h"
#include "embed/corpus_model.h"
#include "router/local_meta_store.h"
#include "server/node_service.h"

namespace kin::server {
namespace {

using search::Document;
using testing::HasSubstr;

constexpr std::uint32_t kDimension = 8;
constexpr std::size_t kTopics = 16;

// Vectors around kTopics directions, some of them between two.
std::vector<float> random_vector(Random& random) {
  const std::uint64_t topic = random.below(kTopics);
  Random direction(1'000 + topic);
  std::vector<float> vector;
  for (std::uint32_t d = 0; d < kDimension; ++d)
    vector.push_back(
        static_cast<float>(direction.unit() - 0.5 + 0.3 * (random.unit() - 0.5)));
  return vector;
}

std::vector<Document> with_vectors(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<Document> documents;
  for (std::size_t i = 0; i < count; ++i)
    documents.push_back({.id = std::to_string(seed) + "-" + std::to_string(i),
                         .embedding = random_vector(random)});
  return documents;
}

// Sentences about two subjects, with few words in common.
std::vector<Document> with_texts(std::size_t count) {
  const std::vector<std::vector<std::string>> subjects{
      {"tide", "moon", "harbour", "wave", "shore", "current", "sailor"},
      {"baker", "flour", "oven", "bread", "yeast", "dough", "kitchen"}};
  Random random(3);
  std::vector<Document> documents;
  for (std::size_t i = 0; i < count; ++i) {
    Document document{.id = (i % 2 == 0 ? "sea" : "bread") + std::to_string(i)};
    for (int word = 0; word < 5; ++word)
      document.text += subjects[i % 2][random.below(7)] + " ";
    documents.push_back(std::move(document));
  }
  return documents;
}

// Four nodes in this process, on loopback ports.
class RoutedIndexesTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"a", "b", "c", "d"}) {
      auto node = NodeService::start({.folder = folder_.path() / name});
      ASSERT_TRUE(node.ok()) << node.error().message;
      nodes_.push_back(std::move(*node));
    }
    meta_ = std::move(*router::LocalMetaStore::open(folder_.path() / "meta", {}));
    indexes_ = open_indexes();
  }

  // As another router has them.
  std::unique_ptr<RoutedIndexes> open_indexes() {
    return std::make_unique<RoutedIndexes>(*meta_, options());
  }
  RoutedOptions options() const {
    RoutedOptions options;
    for (const auto& node : nodes_)
      options.nodes.push_back("127.0.0.1:" + std::to_string(node->port()));
    return options;
  }

  RoutedIndexes::Creation creation(const std::string& embed, std::uint32_t dimension,
                                   std::vector<Document> sample) {
    RoutedIndexes::Creation made{.partitions = 16, .sample = std::move(sample)};
    EXPECT_TRUE(search::choose_vectors(made.config, embed, dimension).ok());
    return made;
  }
  std::shared_ptr<RoutedIndex> make(const RoutedIndexes::Creation& creation,
                                    std::span<const Document> documents) {
    const Status made = indexes_->create("things", creation);
    EXPECT_TRUE(made.ok()) << made.error().message;
    auto index = *indexes_->open("things");
    const auto added = index->add(documents);
    EXPECT_TRUE(added.ok()) << added.error().message;
    return index;
  }
  std::string refusal(const RoutedIndexes::Creation& creation) {
    const Status made = indexes_->create("things", creation);
    return made.ok() ? "none" : made.error().message;
  }

  TemporaryFolder folder_ = std::move(*TemporaryFolder::create());
  std::vector<std::unique_ptr<NodeService>> nodes_;
  std::unique_ptr<router::LocalMetaStore> meta_;
  std::unique_ptr<RoutedIndexes> indexes_;
};

std::set<std::string> keys_of(const index::ShardHits& found) {
  std::set<std::string> keys;
  for (const index::ShardHit& hit : found.hits) keys.insert(to_string(hit.doc.id));
  return keys;
}

TEST_F(RoutedIndexesTest, ADroppedIndexIsGoneForEveryRouter) {
  const RoutedIndexes::Creation plain = creation("none", 0, {});
  make(plain, with_texts(40));
  const auto others = open_indexes();
  ASSERT_TRUE(others->open("things").ok());
  const Status dropped = indexes_->drop("things");
  ASSERT_TRUE(dropped.ok()) << dropped.error().message;
  EXPECT_EQ(indexes_->drop("things").error().code, Code::kNotFound);
  EXPECT_EQ(indexes_->open("things").error().code, Code::kNotFound);
  EXPECT_TRUE(indexes_->names()->empty());
  for (const char* node : {"a", "b", "c", "d"})
    EXPECT_FALSE(std::filesystem::exists(folder_.path() / node / "things")) << node;
  // Another router notices when it needs to.
  const auto stale = *others->open("things");
  EXPECT_FALSE(stale->search({.text = "tide"}).ok());
  EXPECT_TRUE(*others->forget_if_gone("things"));
  EXPECT_EQ(others->open("things").error().code, Code::kNotFound);
}

TEST_F(RoutedIndexesTest, AnIndexThatIsMadeAgainHasNothingOfTheOldOne) {
  const RoutedIndexes::Creation plain = creation("none", 0, {});
  make(plain, with_texts(40));
  const auto others = open_indexes();
  const auto old = *others->open("things");
  EXPECT_FALSE(*others->forget_if_gone("things"));
  ASSERT_TRUE(indexes_->drop("things").ok());
  const auto made = make(plain, with_texts(2));
  EXPECT_EQ(made->search({.text = "*"})->count, 2U);
  EXPECT_FALSE(old->search({.text = "*"}).ok());  // other shards than it means
  EXPECT_THAT(*others->names(), testing::ElementsAre("things"));
  EXPECT_EQ((*others->open("things"))->search({.text = "*"})->count, 2U);
}

TEST_F(RoutedIndexesTest, WhatANodeCouldNotDropIsDroppedBeforeTheNameIsUsedAgain) {
  const RoutedIndexes::Creation plain = creation("none", 0, {});
  make(plain, with_texts(40));
  const std::uint16_t port = nodes_[2]->port();
  ASSERT_TRUE(nodes_[2]->stop().ok());
  RoutedOptions hasty = options();
  hasty.routing.timeout = std::chrono::milliseconds{50};
  indexes_ = std::make_unique<RoutedIndexes>(*meta_, hasty);
  EXPECT_EQ(indexes_->drop("things").error().code, Code::kUnavailable);
  EXPECT_EQ(indexes_->open("things").error().code, Code::kNotFound);
  EXPECT_EQ(indexes_->create("things", plain).error().code, Code::kUnavailable);
  auto node = NodeService::start({.port = port, .folder = folder_.path() / "c"});
  ASSERT_TRUE(node.ok()) << node.error().message;
  nodes_[2] = std::move(*node);
  indexes_ = open_indexes();
  const auto made = make(plain, with_texts(3));
  EXPECT_EQ(made->search({.text = "*"})->count, 3U);
}

TEST_F(RoutedIndexesTest, ASampleOfVectorsLetsSearchesPassOverNodes) {
  const auto index = make(creation("", kDimension, with_vectors(400, 1)), with_vectors(2'000, 2));
  EXPECT_TRUE(index->shards().map().centroids.has_value());
  std::size_t asked = 0, wanted = 0, found = 0;
  Random random(5);
  constexpr std::size_t kQueries = 60;
  for (std::size_t i = 0; i < kQueries; ++i) {
    index::ShardQuery query{
        .vector = index::VectorLeg{.vector = random_vector(random), .recall = 0.95}};
    const auto near = index->shards().search(query);
    ASSERT_TRUE(near.ok()) << near.error().message;
    query.vector->exact = true;
    const auto truth = index->shards().search(query);
    ASSERT_TRUE(truth.ok()) << truth.error().message;
    EXPECT_EQ(truth->asked, 4U);
    asked += near->asked;
    const auto keys = keys_of(near->found);
    for (const std::string& key : keys_of(truth->found)) {
      ++wanted;
      found += keys.count(key);
    }
  }
  EXPECT_LE(asked, 60 * 4 * kQueries / 100);
  EXPECT_GE(found, 93 * wanted / 100);
}

TEST_F(RoutedIndexesTest, AQuestionSaysHowManyOfTheNearestToFind) {
  const auto index = make(creation("", kDimension, with_vectors(400, 1)), with_vectors(500, 2));
  search::Question question{.mode = search::Mode::kVector,
                            .vector = with_vectors(1, 9)[0].embedding};
  for (const double recall : {0.8, 0.97, 1.0}) {
    question.recall = recall;
    const auto answer = index->search(question);
    ASSERT_TRUE(answer.ok()) << answer.error().message;
    EXPECT_EQ(answer->hits.size(), 10U);
  }
}

TEST_F(RoutedIndexesTest, WithoutASampleDocumentsArePlacedByTheirIds) {
  const auto index = make(creation("", kDimension, {}), with_vectors(50, 2));
  EXPECT_FALSE(index->shards().map().centroids.has_value());
  const auto found = index->shards().search(
      {.vector = index::VectorLeg{.vector = with_vectors(1, 9)[0].embedding, .recall = 0.8}});
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found->asked, 4U);
}

TEST_F(RoutedIndexesTest, VectorsAreLearntFromTheSampleAndEveryRouterHasTheSame) {
  const std::vector<Document> documents = with_texts(300);
  const auto index = make(creation("corpus", 0, with_texts(200)), documents);
  EXPECT_GT(index->config().main.dimension, 0U);
  const auto other = *open_indexes()->open("things");
  // No document has all of these words; those about the sea are near.
  const search::Question question{.mode = search::Mode::kVector, .text = "moon sailor", .k = 20};
  const auto answer = index->search(question);
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  ASSERT_EQ(answer->hits.size(), 20U);
  for (const search::AnswerHit& hit : answer->hits)
    EXPECT_THAT(hit.document.id, testing::StartsWith("sea"));
  const auto again = other->search(question);
  ASSERT_TRUE(again.ok()) << again.error().message;
  ASSERT_EQ(again->hits.size(), answer->hits.size());
  for (std::size_t i = 0; i < answer->hits.size(); ++i) {
    EXPECT_EQ(again->hits[i].document.id, answer->hits[i].document.id);
    EXPECT_EQ(again->hits[i].score, answer->hits[i].score);
  }
  const search::Question hybrid{.text = "moon sailor"};
  const auto both = index->search(hybrid);
  ASSERT_TRUE(both.ok()) << both.error().message;
  EXPECT_EQ(both->mode, "hybrid");
}

TEST_F(RoutedIndexesTest, ASampleThatIsOfNoUseIsRefused) {
  EXPECT_THAT(refusal(creation("corpus", 0, {})), HasSubstr("--sample"));
  EXPECT_THAT(refusal(creation("none", 0, with_texts(200))), HasSubstr("without vectors"));
  EXPECT_THAT(refusal(creation("", kDimension, with_vectors(159, 1))), HasSubstr("160"));
  EXPECT_THAT(refusal(creation("", kDimension, with_texts(200))), HasSubstr("has 0 documents"));
  EXPECT_THAT(refusal(creation("", kDimension + 1, with_vectors(200, 1))), HasSubstr("sample"));
  // Nothing was made meanwhile.
  EXPECT_TRUE(indexes_->names()->empty());
  EXPECT_EQ(refusal(creation("", kDimension, with_vectors(160, 1))), "none");
}

// Forty texts, each with a copy that differs in a word. On one machine and on nodes.
class RoutedDedupTest : public RoutedIndexesTest {
 protected:
  static std::vector<Document> texts() {
    Random random(4);
    std::vector<Document> documents;
    for (int i = 0; i < 40; ++i) {
      std::string text;
      for (int word = 0; word < 60; ++word) text += "word" + std::to_string(random.below(500)) + " ";
      documents.push_back({.id = "first" + std::to_string(i), .text = text});
      documents.push_back({.id = "copy" + std::to_string(i), .text = text + "ends otherwise"});
    }
    // Copies of one batch, of batches before and of texts that were replaced meanwhile.
    documents.push_back({.id = "first3", .text = "something else entirely was written here"});
    documents.push_back({.id = "late3", .text = documents[6].text});
    return documents;
  }

  void compare(index::NearDuplicateOptions::Action action) {
    RoutedIndexes::Creation creation{.partitions = 16};
    ASSERT_TRUE(search::choose_vectors(creation.config, "none", 0).ok());
    creation.config.dedup = index::NearDuplicateOptions{.threshold = 0.8, .action = action};
    ASSERT_TRUE(search::SearchIndex::create(folder_.path() / "one", creation.config, {}).ok());
    const auto one = std::move(*search::SearchIndex::open(folder_.path() / "one", {}));
    ASSERT_TRUE(indexes_->create("things", creation).ok());
    const auto many = *indexes_->open("things");
    const std::vector<Document> documents = texts();
    for (std::size_t at = 0; at < documents.size(); at += 7) {
      const auto batch = std::span(documents).subspan(at, std::min<std::size_t>(7, documents.size() - at));
      const auto expected = one->add(batch);
      const auto found = many->add(batch);
      ASSERT_TRUE(expected.ok() && found.ok());
      EXPECT_EQ(found->added, expected->added);
      expect_same(found->refused, expected->refused);
      expect_same(found->linked, expected->linked);
    }
    for (const Document& document : documents) {
      const auto expected = *one->document(document.id);
      const auto found = *many->document(document.id, {});
      ASSERT_EQ(found.has_value(), expected.has_value()) << document.id;
      if (found) {
        EXPECT_EQ(*found, *expected) << document.id;
      }
    }
  }

  static void expect_same(const std::vector<search::RepeatedDocument>& found,
                          const std::vector<search::RepeatedDocument>& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].id, expected[i].id);
      EXPECT_EQ(found[i].duplicate_of, expected[i].duplicate_of);
      EXPECT_EQ(found[i].similarity, expected[i].similarity);
      EXPECT_GE(found[i].similarity, 0.8);
    }
    seen_ += found.size();
  }
  static inline std::size_t seen_ = 0;
};

TEST_F(RoutedDedupTest, NearDuplicatesAreLinkedAcrossNodesAsOnOneMachine) {
  seen_ = 0;
  compare(index::NearDuplicateOptions::Action::kLink);
  EXPECT_GE(seen_, 40U);
}

TEST_F(RoutedDedupTest, NearDuplicatesAreRefusedAcrossNodesAsOnOneMachine) {
  seen_ = 0;
  compare(index::NearDuplicateOptions::Action::kRefuse);
  EXPECT_GE(seen_, 40U);
}

}  // namespace
}  // namespace kin::server
