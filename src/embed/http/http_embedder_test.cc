#include "embed/http/http_embedder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/testing/manual_clock.h"
#include "base/testing/source_folder.h"
#include "embed/testing/embed_fixture.h"
#include "net/http_client.h"
#include "net/testing/test_server.h"

namespace kin::embed {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using namespace std::chrono_literals;

class HttpEmbedderTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    server = new net::TestServer(std::vector<std::string>{
        "python3", std::string(source_folder()) + "/tests/embed/server.py"});
  }
  static void TearDownTestSuite() { delete server; }

  HttpEmbedderOptions options(const std::string& model) {
    return {.url = server->url("/v1"),
            .model = model,
            .timeout = 10s,
            .addresses = {.allowed = {net::Network::parse("127.0.0.1").value()}}};
  }
  Error error_of(HttpEmbedderOptions given) {
    const auto embedder = open_http_embedder(std::move(given), clock_);
    EXPECT_FALSE(embedder.ok());
    return embedder.ok() ? Error{} : embedder.error();
  }
  // The sizes of the requests since the last call.
  std::string batches() {
    net::HttpClient client({.addresses = options("").addresses});
    return client.get({.url = server->url("/batches")}).value().body;
  }

  static net::TestServer* server;
  // How long embedders have slept since the last call.
  std::chrono::nanoseconds waited() {
    const SteadyTime before = std::exchange(last_, clock_.steady_now());
    return last_ - before;
  }
  ManualClock clock_;
  SteadyTime last_ = clock_.steady_now();
};

net::TestServer* HttpEmbedderTest::server = nullptr;

TEST_F(HttpEmbedderTest, AsksForVectorsAndPutsThemInOrder) {
  const auto embedder = open_http_embedder(options("letters"), clock_);
  ASSERT_TRUE(embedder.ok()) << embedder.error().message;
  EXPECT_EQ((*embedder)->info().kind, EmbedderKind::kHttp);
  EXPECT_EQ((*embedder)->info().dimension, 4U);
  const std::string_view texts[] = {"aa \"bb\"\n", "c", "", " \t"};
  const auto vectors = (*embedder)->embed(texts);
  ASSERT_TRUE(vectors.ok()) << vectors.error().message;
  const float first = 1 / std::sqrt(25.0F);
  EXPECT_THAT((*vectors)[0], ElementsAre(4 * first, 2 * first, 2 * first, 1 * first));
  EXPECT_NEAR((*vectors)[1][1], 0, 1e-6);
  EXPECT_THAT((*vectors)[2], IsEmpty());
  EXPECT_THAT((*vectors)[3], IsEmpty());
}

TEST_F(HttpEmbedderTest, SendsBatches) {
  auto small = options("letters");
  small.dimension = 4;
  small.batch = 3;
  small.batch_bytes = 10;
  small.url += "/";
  const auto embedder = open_http_embedder(small, clock_).value();
  batches();
  const std::vector<std::string_view> texts{"a", "b", "c", "d", "", "a long one, too long", "e"};
  EXPECT_EQ(embedder->embed(texts).value().size(), 7U);
  EXPECT_EQ(batches(), "3 1 1 1");
  EXPECT_THAT(embedder->embed({}).value(), IsEmpty());
  EXPECT_EQ(batches(), "");
}

TEST_F(HttpEmbedderTest, TriesAgainWhenToldToComeBack) {
  EXPECT_TRUE(open_http_embedder(options("down-2"), clock_).ok());
  EXPECT_EQ(waited(), 250ms + 500ms);
  EXPECT_TRUE(open_http_embedder(options("busy-1"), clock_).ok());
  EXPECT_EQ(waited(), 3s);
}

TEST_F(HttpEmbedderTest, GivesUpAfterSomeTries) {
  const Error error = error_of(options("down-99"));
  EXPECT_EQ(error.code, Code::kUnavailable);
  EXPECT_THAT(error.message,
              AllOf(HasSubstr("/v1/embeddings"), HasSubstr("503"), HasSubstr("come back later")));
  EXPECT_EQ(waited(), 250ms + 500ms + 1s);
}

TEST_F(HttpEmbedderTest, ShowsItsKeyAndSaysWhenItIsWrong) {
  auto locked = options("locked");
  locked.key = "secret";
  EXPECT_TRUE(open_http_embedder(locked, clock_).ok());
  locked.key = "guess";
  const Error error = error_of(locked);
  EXPECT_EQ(error.code, Code::kFailedPrecondition);
  EXPECT_THAT(error.message, AllOf(HasSubstr("Incorrect API key"), HasSubstr("key right"),
                                   Not(HasSubstr("guess"))));
  EXPECT_EQ(waited(), 0s);
}

TEST_F(HttpEmbedderTest, RefusesAnswersThatAreNotValid) {
  const std::string_view texts[] = {"one", "two"};
  for (const auto& [model, what] :
       std::vector<std::pair<std::string, std::string>>{{"few", "1 vectors for 2 texts"},
                                                        {"twice", "is 0 for two vectors"},
                                                        {"ragged", "has 5 dimensions instead of 4"},
                                                        {"words", "must be a list of numbers"},
                                                        {"zero", "is zero"},
                                                        {"unnumbered", "index\" is missing"},
                                                        {"garbage", "not valid JSON"}}) {
    auto given = options(model);
    given.dimension = 4;
    const auto vectors = open_http_embedder(given, clock_).value()->embed(texts);
    ASSERT_FALSE(vectors.ok()) << model;
    EXPECT_EQ(vectors.error().code, Code::kDataLoss);
    EXPECT_THAT(vectors.error().message, AllOf(HasSubstr(server->url("/v1")), HasSubstr(what)));
  }
}

TEST_F(HttpEmbedderTest, SaysWhatIsWrongWithTheAddress) {
  auto elsewhere = options("letters");
  elsewhere.url = server->url("/v2");
  EXPECT_EQ(error_of(elsewhere).code, Code::kNotFound);
  elsewhere.url = "ftp://example.com";
  EXPECT_EQ(error_of(elsewhere).code, Code::kInvalidArgument);
  EXPECT_THAT(error_of(options("")).message, HasSubstr("the name of the model is missing"));
  EXPECT_THAT(error_of(options("moved")).message, HasSubstr("307"));
  auto strict = options("letters");
  strict.addresses = {};
  EXPECT_THAT(error_of(strict).message, HasSubstr("a loopback address"));
}

TEST_F(HttpEmbedderTest, HashesItsAddressAndModel) {
  const auto one = open_http_embedder(options("letters"), clock_).value();
  auto given = options("letters");
  given.dimension = 4;
  EXPECT_EQ(one->info().model_hash, open_http_embedder(given, clock_).value()->info().model_hash);
  given.model = "other";
  EXPECT_NE(one->info().model_hash, open_http_embedder(given, clock_).value()->info().model_hash);
}

}  // namespace
}  // namespace kin::embed
