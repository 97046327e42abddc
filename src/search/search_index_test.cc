#include "search/search_index.h"

#include <gtest/gtest.h>

#include <latch>
#include <thread>

#include "base/file.h"

namespace kin::search {
namespace {

using Links = std::vector<Link>;

Document document(std::string id, std::string title, std::string text) {
  return {.id = std::move(id), .title = std::move(title), .text = std::move(text)};
}

std::vector<std::string> ids(const Answer& answer) {
  std::vector<std::string> found;
  for (const AnswerHit& hit : answer.hits) found.push_back(hit.document.id);
  return found;
}

class SearchIndexTest : public ::testing::Test {
 protected:
  std::unique_ptr<SearchIndex> make(const IndexConfig& config,
                                    OpenOptions options = {.tend = false}) {
    EXPECT_TRUE(SearchIndex::create(folder(), config, options).ok());
    return open(std::move(options));
  }
  std::unique_ptr<SearchIndex> open(OpenOptions options = {.tend = false}) {
    auto index = SearchIndex::open(folder(), options);
    EXPECT_TRUE(index.ok()) << (index ? "" : index.error().message);
    return index ? std::move(*index) : nullptr;
  }
  std::filesystem::path folder() const { return temporary_.path() / "index"; }

  // Two subjects that share few words, so that a model can distinguish them.
  static std::vector<Document> two_subjects() {
    const char* sea[] = {"tides", "waves", "harbour", "ship", "sailor", "coast", "anchor", "storm"};
    const char* kitchen[] = {"bread", "oven",  "flour", "butter",
                             "baker", "dough", "yeast", "crust"};
    std::vector<Document> all;
    for (std::size_t i = 0; i < 48; ++i) {
      const auto& words = i % 2 == 0 ? sea : kitchen;
      std::string text;
      for (std::size_t w = 0; w < 5; ++w)
        text += std::string(words[(i / 2 + w * (1 + i % 3)) % 8]) + " ";
      all.push_back(document("d" + std::to_string(i), i % 2 == 0 ? "Sea" : "Kitchen", text));
    }
    return all;
  }

  TemporaryFolder temporary_ = *TemporaryFolder::create();
};

TEST_F(SearchIndexTest, FindsWhatWasAddedAtOnceAndAfterReopening) {
  auto index = make({.embed = {embed::EmbedderKind::kNone}});
  const std::vector<Document> documents{document("a", "The tides", "of the inner sea"),
                                        document("b", "The bread", "of the baker")};
  ASSERT_TRUE(index->add(documents).ok());
  EXPECT_EQ(ids(*index->search({.text = "tides"})), std::vector<std::string>{"a"});
  ASSERT_TRUE(index->close().ok());
  index = open();
  const auto answer = index->search({.text = "bread"});
  EXPECT_EQ(ids(*answer), std::vector<std::string>{"b"});
  EXPECT_EQ(answer->mode, "text");
  EXPECT_EQ(answer->hits[0].title, (MarkedText{{"The ", false}, {"bread", true}}));
}

TEST_F(SearchIndexTest, SurvivesWithoutBeingClosed) {
  {
    auto index = make({.embed = {embed::EmbedderKind::kNone}});
    ASSERT_TRUE(index->add({{document("a", "tides", "")}}).ok());
  }
  EXPECT_EQ(open()->search({.text = "tides"})->hits.size(), 1U);
}

TEST_F(SearchIndexTest, LearnsOnceThoughManyDocumentsSayNothing) {
  auto index = make({.embed = {embed::EmbedderKind::kCorpus},
                     .main = {.name = "main", .storage = index::RawStorage::kF16}});
  std::vector<Document> documents = two_subjects();
  for (int i = 0; i < 48; ++i) documents.push_back(document("empty" + std::to_string(i), "", "…"));
  ASSERT_TRUE(index->add(documents).ok());
  int asked = 0;
  ASSERT_TRUE(index->wait_until_idle([&] { return ++asked > 1'000; }).ok());
  EXPECT_LT(asked, 1'000);
  EXPECT_TRUE(std::filesystem::exists(folder() / "model-1.corpus"));
}

TEST_F(SearchIndexTest, LearnsVectorsFromItsDocuments) {
  auto index = make({.embed = {embed::EmbedderKind::kCorpus},
                     .main = {.name = "main", .storage = index::RawStorage::kF16}});
  EXPECT_EQ(index->search({.text = "tides"})->mode, "text");
  ASSERT_TRUE(index->add(two_subjects()).ok());
  ASSERT_TRUE(index->wait_until_idle().ok());
  EXPECT_GT(index->info().dimension, 0U);
  const auto answer = index->search({.mode = Mode::kVector, .text = "sailor storm", .k = 10});
  ASSERT_TRUE(answer.ok());
  ASSERT_EQ(answer->hits.size(), 10U);
  for (const AnswerHit& hit : answer->hits) EXPECT_EQ(hit.document.title, "Sea") << hit.document.id;
  EXPECT_EQ(index->search({.text = "sailor"})->mode, "hybrid");
  for (const Mode mode : {Mode::kBest, Mode::kHybrid}) {
    const auto everything = index->search({.mode = mode, .text = "*"});
    ASSERT_TRUE(everything.ok()) << everything.error().message;
    EXPECT_EQ(everything->mode, "text");
    EXPECT_EQ(everything->count, 48U);
  }
  const auto report = index->check();
  EXPECT_EQ(report->vectors, 48U);
  EXPECT_TRUE(report->faults.empty());
}

TEST_F(SearchIndexTest, LearnsAgainAsItGrowsWhileItIsSearched) {
  auto index = make({.embed = {embed::EmbedderKind::kCorpus},
                     .main = {.name = "main", .storage = index::RawStorage::kF16}},
                    {.tend = true});
  const auto documents = two_subjects();
  ASSERT_TRUE(index->add(documents).ok());
  ASSERT_TRUE(index->wait_until_idle().ok());
  const std::uint64_t before = index->info().stats.spaces.front().generation;
  std::atomic<bool> done{false};
  std::thread reader([&] {
    while (!done) {
      const auto answer = index->search({.mode = Mode::kVector, .text = "sailor"});
      ASSERT_TRUE(answer.ok()) << answer.error().message;
      EXPECT_EQ(answer->hits.size(), 10U);
    }
  });
  std::vector<Document> more = documents;
  for (Document& each : more) each.id = "more-" + each.id;
  ASSERT_TRUE(index->add(more).ok());
  ASSERT_TRUE(index->wait_until_idle().ok());
  done = true;
  reader.join();
  EXPECT_GT(index->info().stats.spaces.front().generation, before);
  EXPECT_EQ(index->info().stats.spaces.front().vectors.vectors, 96U);
}

// Documents of a subject, each with six of its twelve words.
std::vector<Document> about(const std::string& subject, int count) {
  std::vector<Document> all;
  for (int i = 0; i < count; ++i) {
    std::string text;
    for (int w = 0; w < 6; ++w) text += subject + std::to_string((i + w * (1 + i % 5)) % 12) + " ";
    all.push_back(document(subject + "-" + std::to_string(i), subject, text));
  }
  return all;
}

TEST_F(SearchIndexTest, LearnsAgainWhenNewDocumentsAreAboutSomethingElse) {
  auto index = make({.embed = {}, .main = {.name = "main", .storage = index::RawStorage::kF16}});
  ASSERT_TRUE(index->add(about("sea", 160)).ok());
  ASSERT_TRUE(index->wait_until_idle().ok());
  const auto generation = [&] { return index->info().stats.spaces.front().generation; };
  ASSERT_EQ(generation(), 1U);
  // A quarter more documents, with words that the model does not know; far from half as many again.
  ASSERT_TRUE(index->add(about("kitchen", 40)).ok());
  ASSERT_TRUE(index->wait_until_idle().ok());
  EXPECT_EQ(generation(), 2U);
  const auto found = index->search({.mode = Mode::kVector, .text = "kitchen3", .k = 5});
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found->hits.size(), 5U);
  for (const AnswerHit& hit : found->hits) EXPECT_EQ(hit.document.title, "kitchen");
}

TEST_F(SearchIndexTest, DoesNotLearnAgainForMoreOfTheSame) {
  auto index = make({.embed = {}, .main = {.name = "main", .storage = index::RawStorage::kF16}});
  ASSERT_TRUE(index->add(about("sea", 160)).ok());
  ASSERT_TRUE(index->wait_until_idle().ok());
  std::vector<Document> more = about("sea", 40);
  for (Document& each : more) each.id = "more-" + each.id;
  ASSERT_TRUE(index->add(more).ok());
  ASSERT_TRUE(index->wait_until_idle().ok());
  EXPECT_EQ(index->info().stats.spaces.front().generation, 1U);
}

TEST_F(SearchIndexTest, TakesVectorsThatDocumentsBring) {
  IndexConfig config;
  ASSERT_TRUE(choose_vectors(config, "", 2).ok());
  auto index = make(config);
  Document near = document("near", "", "x");
  near.embedding = {1, 0.1F};
  Document far = document("far", "", "y");
  far.embedding = {-1, 0};
  ASSERT_TRUE(index->add({{near, far}}).ok());
  const auto answer = index->search({.vector = {1, 0}});
  EXPECT_EQ(ids(*answer), (std::vector<std::string>{"near", "far"}));
  EXPECT_EQ(answer->mode, "vector");
  near.embedding = {1, 2, 3};
  const auto longer = index->add({{near}});
  ASSERT_FALSE(longer.ok());
  EXPECT_EQ(longer.error().message,
            "document \"near\": its vector has 3 numbers, and those of the space \"main\" have 2");
  near.embedding = {1, 2};
  near.embeddings = {{"audio", {1}}};
  const auto elsewhere = index->add({{near}});
  ASSERT_FALSE(elsewhere.ok());
  EXPECT_NE(elsewhere.error().message.find("--space audio:1"), std::string::npos);
}

TEST_F(SearchIndexTest, RefusesVectorsItHasNoPlaceFor) {
  auto index = make({.embed = {embed::EmbedderKind::kNone}});
  Document with = document("a", "", "x");
  with.embedding = {1, 2};
  const auto added = index->add({{with}});
  ASSERT_FALSE(added.ok());
  EXPECT_NE(added.error().message.find("--dim 2"), std::string::npos);
}

TEST_F(SearchIndexTest, OpensWithoutTheServerThatMakesItsVectors) {
  const IndexConfig config{.embed = {embed::EmbedderKind::kHttp, "http://127.0.0.1:9/v1#model"},
                           .main = {.name = "main", .dimension = 4}};
  std::filesystem::create_directories(folder());
  ASSERT_TRUE(write_file_atomically(folder() / kConfigName, encode(config)).ok());
  const auto index = open();
  ASSERT_NE(index, nullptr);
  EXPECT_TRUE(index->search({.mode = Mode::kText, .text = "tides"}).ok());
}

TEST_F(SearchIndexTest, FollowsLinksBothWays) {
  auto index = make({.embed = {embed::EmbedderKind::kNone}});
  Document a = document("a", "A", "tides");
  a.links = Links{{.to = "b", .name = "cites"}, {.to = "nowhere"}};
  ASSERT_TRUE(index->add({{a, document("b", "B", "moon")}}).ok());
  const auto near = index->neighbours({.id = "b"});
  ASSERT_EQ(near->nodes.size(), 2U);
  EXPECT_EQ(near->nodes[1].title, "A");
  EXPECT_EQ(near->edges.front().name, "cites");
  EXPECT_EQ(ids(*index->search({.mode = Mode::kGraph, .text = "b"})),
            std::vector<std::string>{"a"});
  const auto walked = index->search({.text = "moon", .expand = {.hops = 1}});
  ASSERT_EQ(walked->hits.size(), 2U);
  EXPECT_EQ(walked->hits[1].trace->by, "b");
  const auto whole = index->document("a");
  ASSERT_EQ((*whole)->links->size(), 2U);
  EXPECT_FALSE(index->neighbours({.id = "none"}).ok());
}

TEST_F(SearchIndexTest, FindsTheShortestPath) {
  auto index = make({.embed = {embed::EmbedderKind::kNone}});
  Document a = document("a", "A", "");
  a.links = Links{{.to = "b", .name = "cites"}, {.to = "x", .name = "likes"}};
  Document b = document("b", "B", "");
  b.links = Links{{.to = "c", .name = "cites", .valid = {.until = 1'000}}};
  Document x = document("x", "X", "");
  x.links = Links{{.to = "y", .name = "likes"}};
  Document y = document("y", "Y", "");
  y.links = Links{{.to = "c", .name = "likes"}};
  ASSERT_TRUE(index->add({{a, b, document("c", "C", ""), x, y, document("z", "Z", "")}}).ok());
  const auto nodes = [&](const PathQuestion& question) {
    const auto path = index->path(question);
    EXPECT_TRUE(path.ok()) << (path ? "" : path.error().message);
    std::string along;
    if (path && *path)
      for (const PathNode& node : (*path)->nodes) along += node.id;
    return along;
  };
  EXPECT_EQ(nodes({.from = "a", .to = "c"}), "abc");
  EXPECT_EQ(nodes({.from = "c", .to = "a"}), "cba");
  EXPECT_EQ(nodes({.from = "c", .to = "a", .direction = index::Direction::kOut}), "");
  EXPECT_EQ(nodes({.from = "a", .to = "c", .edges = {"likes"}}), "axyc");
  EXPECT_EQ(nodes({.from = "a", .to = "c", .as_of = 2'000}), "axyc");
  EXPECT_EQ(nodes({.from = "a", .to = "c", .edges = {"likes"}, .hops = 2}), "");
  EXPECT_EQ(nodes({.from = "a", .to = "z"}), "");
  EXPECT_EQ(nodes({.from = "a", .to = "a"}), "a");
  EXPECT_EQ(index->path({.from = "a", .to = "none"}).error().code, Code::kNotFound);
  EXPECT_EQ(to_json(*index->path({.from = "b", .to = "a"})),
            R"({"path":{"hops":1,"nodes":[{"id":"b","title":"B"},{"id":"a","title":"A"}],)"
            R"("edges":[{"from":"a","to":"b","name":"cites","weight":1}]}})");
  EXPECT_EQ(to_json(std::nullopt), R"({"path":null})");
}

TEST_F(SearchIndexTest, FindsWhatSummariesAndFragmentsSay) {
  auto index = make({.embed = {embed::EmbedderKind::kNone}});
  Document a = document("a", "A", "tides");
  a.summaries = {"about ebb and flow"};
  a.fragments = {{.time = 86'400'000, .text = "quoted by the harbour master"}};
  a.links = Links{{.to = "b",
                   .name = "cites",
                   .summary = "borrows the lunar tables",
                   .fragments = {{.time = 0, .text = "criticised in a review"}}}};
  ASSERT_TRUE(index->add({{a, document("b", "B", "moon")}}).ok());
  const auto first = [&](const std::string& text) {
    const auto answer = index->search({.text = text});
    EXPECT_EQ(answer->hits.size(), 1U) << text;
    return answer->hits.empty()
               ? std::string()
               : answer->hits[0].document.id + " " + std::string(name_of(answer->hits[0].kind)) +
                     " " + answer->hits[0].to;
  };
  EXPECT_EQ(first("ebb"), "a entity ");
  EXPECT_EQ(first("harbour"), "a entity_fragment ");
  EXPECT_EQ(first("lunar"), "a edge b");
  EXPECT_EQ(first("review"), "a edge_fragment b");
  EXPECT_EQ(index->search({.text = "harbour", .scope = {.as_of = 0}})->hits.size(), 0U);
  const index::Scope entities{.filters = {{"type", "entity"}}};
  EXPECT_EQ(index->search({.text = "harbour", .scope = entities})->hits.size(), 0U);
}

TEST_F(SearchIndexTest, EndsALinkAtAMoment) {
  auto index = make({.embed = {embed::EmbedderKind::kNone}});
  Document a = document("a", "A", "");
  a.links = Links{{.to = "b", .name = "works_at"}, {.to = "c", .name = "works_at"}};
  ASSERT_TRUE(index->add({{a, document("b", "B", ""), document("c", "C", "")}}).ok());
  a.links = Links{{.to = "b", .name = "works_at", .until = 86'400'000}};
  ASSERT_TRUE(index->add({{a}}).ok());
  const auto links = [&](index::Millis as_of) { return (*index->document("a", as_of))->links; };
  EXPECT_EQ(links(0)->size(), 2U);
  ASSERT_EQ(links(86'400'000)->size(), 1U);
  EXPECT_EQ(links(86'400'000)->front().to, "c");
}

TEST_F(SearchIndexTest, DrawsTheLinksBetweenNeighboursToo) {
  auto index = make({.embed = {embed::EmbedderKind::kNone}});
  Document a = document("a", "", "");
  a.links = Links{{.to = "b"}, {.to = "c"}};
  Document b = document("b", "", "");
  b.links = Links{{.to = "c"}};
  ASSERT_TRUE(index->add({{a, b, document("c", "", "")}}).ok());
  EXPECT_EQ(index->neighbours({.id = "a"})->edges.size(), 3U);
}

TEST_F(SearchIndexTest, ExportsWhatCanBeAddedAgain) {
  auto index = make({.embed = {embed::EmbedderKind::kNone}});
  Document a = document("a", "A", "tides");
  a.links = Links{{.to = "b", .name = "cites", .valid = {0, 1'000}, .summary = "for the tables"},
                  {.to = "b",
                   .name = "cites",
                   .valid = {.from = 2'000},
                   .fragments = {{.time = 5'000, .text = "again"}}},
                  {.to = "nowhere"}};
  a.summaries = {"ebb", "flow"};
  a.fragments = {{.time = 1'000, .text = "first"}, {.time = 2'000, .text = "second"}};
  ASSERT_TRUE(index->add({{a, document("b", "B", "moon")}}).ok());
  const auto everything = [](const SearchIndex& of) {
    std::vector<Document> all;
    EXPECT_TRUE(of.each([&](const Document& each) -> Status {
                    all.push_back(each);
                    return Done{};
                  }).ok());
    return all;
  };
  const std::vector<Document> exported = everything(*index);
  ASSERT_EQ(exported.size(), 2U);
  ASSERT_TRUE(index->remove(std::vector<std::string>{"a", "b"}).ok());
  EXPECT_TRUE(everything(*index).empty());
  EXPECT_EQ(exported[0].summaries, a.summaries);
  EXPECT_EQ(exported[0].fragments, a.fragments);
  EXPECT_EQ(exported[0].links->at(0).summary, "for the tables");
  EXPECT_EQ(exported[0].links->at(0).fragments.size(), 1U);
  ASSERT_TRUE(index->add(exported).ok());
  EXPECT_EQ(everything(*index), exported);
}

TEST_F(SearchIndexTest, ExportsTheVectorsThatDocumentsBrought) {
  IndexConfig config{.more = {{.name = "audio", .dimension = 1}}};
  ASSERT_TRUE(choose_vectors(config, "", 2).ok());
  auto index = make(config);
  Document a = document("a", "A", "tides");
  a.embedding = {0.1F, 1};
  a.embeddings = {{"audio", {3}}};
  ASSERT_TRUE(index->add({{a}}).ok());
  std::vector<Document> exported;
  ASSERT_TRUE(index
                  ->each([&](const Document& each) -> Status {
                    JsonWriter json;
                    write_document(json, each);
                    KIN_TRY(const auto value, data::parse_json(json.take()));
                    KIN_TRY(exported.emplace_back(), document_of(value));
                    return Done{};
                  })
                  .ok());
  EXPECT_EQ(exported, std::vector<Document>{a});
}

TEST_F(SearchIndexTest, NamesWhatRepeatsWhat) {
  IndexConfig config{.embed = {embed::EmbedderKind::kNone}};
  config.dedup = index::NearDuplicateOptions{
      .threshold = 0.7, .action = index::NearDuplicateOptions::Action::kRefuse};
  auto index = make(config);
  const std::string text =
      "the quick brown fox jumps over the lazy dog and then goes home to sleep for a long while";
  const auto report = index->add(
      {{document("a", "", text), document("b", "", text + " today"), document("c", "", "x")}});
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->added, 2U);
  ASSERT_EQ(report->refused.size(), 1U);
  EXPECT_EQ(report->refused[0].id, "b");
  EXPECT_EQ(report->refused[0].duplicate_of, "a");
  EXPECT_GT(report->refused[0].similarity, 0.7);
}

TEST_F(SearchIndexTest, IsOpenOnce) {
  const auto index = make({.embed = {embed::EmbedderKind::kNone}});
  const auto second = SearchIndex::open(folder(), {.tend = false});
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, Code::kFailedPrecondition);
  EXPECT_NE(second.error().message.find("kindred serve"), std::string::npos);
}

TEST_F(SearchIndexTest, IsClosedUnderThoseWhoUseItWithoutHarm) {
  auto index = make({.embed = {embed::EmbedderKind::kNone}}, {.tend = true});
  ASSERT_TRUE(index->add({{document("a", "tides", "")}}).ok());
  std::vector<std::thread> users;
  std::atomic<int> told{0};
  std::latch busy(2);
  for (int i = 0; i < 2; ++i)
    users.emplace_back([&, i] {
      for (int round = 0;; ++round) {
        const auto found = index->search({.text = "tides"});
        const auto added = index->add({{document("b" + std::to_string(i), "waves", "")}});
        if (round == 0) busy.count_down();
        if (found && added) continue;
        ++told;
        return;
      }
    });
  busy.wait();
  EXPECT_TRUE(index->close().ok());
  for (std::thread& user : users) user.join();
  EXPECT_EQ(told, 2);
  EXPECT_EQ(index->wait_until_idle().error().code, Code::kFailedPrecondition);
  EXPECT_EQ(index->info().stats.counters.entities, 0U);
}

}  // namespace
}  // namespace kin::search
