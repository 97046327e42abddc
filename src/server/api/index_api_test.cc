#include "server/api/index_api.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/testing/source_folder.h"
#include "data/json_value.h"
#include "server/testing/test_client.h"
#include "server/web_service.h"

namespace kin::server {
namespace {

using data::JsonValue;

class IndexApiTest : public ::testing::Test {
 protected:
  void SetUp() override { start(); }

  void start() {
    service_.reset();
    auto service = WebService::start({.folder = scratch_.path() / "news",
                                      .indexes = scratch_.path() / "indexes",
                                      .index = {.models = {scratch_.path() / "models"}},
                                      .refresh = false});
    ASSERT_TRUE(service.ok()) << service.error().message;
    service_ = std::move(*service);
  }

  JsonValue ask(int status, const std::string& request) {
    const RawAnswer answer = TestClient(service_->port()).ask(request);
    EXPECT_EQ(answer.status, status) << answer.body;
    auto value = data::parse_json(answer.body.empty() ? "{}" : answer.body);
    EXPECT_TRUE(value.ok()) << answer.body;
    return value.ok() ? std::move(*value) : JsonValue();
  }
  JsonValue get(const std::string& target, int status = 200) {
    return ask(status, request_text("GET", target));
  }
  JsonValue send(const char* method, const std::string& target, const std::string& body,
                 int status = 200) {
    return ask(status, json_request(method, target, body));
  }
  // A folder of models with the word vectors of the build in it.
  void make_models() {
    std::filesystem::create_directories(scratch_.path() / "models");
    std::filesystem::create_hard_link(
        std::filesystem::path(source_folder()) / ".deps/models/words.kwv",
        scratch_.path() / "models/own.kwv", problem_);
    if (problem_)
      std::filesystem::copy(std::filesystem::path(source_folder()) / ".deps/models/words.kwv",
                            scratch_.path() / "models/own.kwv");
  }
  void fill() {
    send("POST", "/api/v1/indexes", R"({"name": "papers", "embed": "none"})", 201);
    const JsonValue added = send("POST", "/api/v1/indexes/papers/documents",
                                 R"({"documents": [
        {"id": "a/1", "title": "Tides", "text": "of the inner sea", "tags": ["sea"], "links": ["b"], "published": "1961-01-01"},
        {"id": "b", "title": "Moon", "text": "and tides", "tags": ["sky"]}]})");
    EXPECT_EQ(*added["added"].number(), 2);
  }
  static std::vector<std::string> ids(const JsonValue& answer) {
    std::vector<std::string> found;
    for (const JsonValue& hit : answer["hits"].items()) found.emplace_back(hit["id"].text());
    return found;
  }
  static std::string message(const JsonValue& answer) {
    return std::string(answer["error"]["message"].text());
  }

  std::error_code problem_;
  TemporaryFolder scratch_ = *TemporaryFolder::create();
  std::unique_ptr<WebService> service_;
};

// A user who may create an index must not make the server read arbitrary files.
TEST_F(IndexApiTest, ReadsModelsFromTheirFolderOnly) {
  make_models();
  const std::string pipe = (scratch_.path() / "models/pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  ASSERT_TRUE(write_file_atomically(scratch_.path() / "models/text", "no vectors").ok());
  const auto refused = [&](const std::string& embed) {
    return message(
        send("POST", "/api/v1/indexes", R"({"name": "x", "embed": ")" + embed + R"("})", 400));
  };
  for (const char* embed : {"words:/dev/zero", "words:/etc/passwd", "words:../news/news.db",
                            "model2vec:/proc/self", "words:none.kwv"})
    EXPECT_NE(refused(embed).find("not in a folder of models"), std::string::npos) << embed;
  EXPECT_NE(refused("words:pipe").find("not a regular file"), std::string::npos);
  EXPECT_NE(refused("words:" + pipe).find("not a regular file"), std::string::npos);
  EXPECT_NE(refused("words:text").find("text"), std::string::npos);
  send("POST", "/api/v1/indexes", R"({"name": "good", "embed": "words:own.kwv"})", 201);
  start();
  EXPECT_EQ(*get("/api/v1/indexes/good")["index"]["dimension"].number(), 100) << "opened again";
  // A server that does not answer is not an error of this one.
  send("POST", "/api/v1/indexes", R"({"name": "x", "embed": "http://127.0.0.1:9/v1#m"})", 409);
}

TEST_F(IndexApiTest, MakesListsAndDropsIndexes) {
  EXPECT_TRUE(get("/api/v1/indexes")["indexes"].items().empty());
  fill();
  send("POST", "/api/v1/indexes", R"({"name": "papers"})", 409);
  const JsonValue listed = get("/api/v1/indexes")["indexes"].items().front();
  EXPECT_EQ(listed["name"].text(), "papers");
  EXPECT_EQ(*listed["documents"].number(), 2);
  EXPECT_EQ(*get("/api/v1/indexes/papers")["index"]["edges"].number(), 1);
  ask(204, "DELETE /api/v1/indexes/papers HTTP/1.1\r\nHost: localhost\r\n\r\n");
  get("/api/v1/indexes/papers", 404);
}

TEST_F(IndexApiTest, SearchesAndFilters) {
  fill();
  const JsonValue both = get("/api/v1/indexes/papers/search?q=tides&facets=tag&explain=1");
  EXPECT_EQ(ids(both), (std::vector<std::string>{"a/1", "b"}));
  EXPECT_EQ(*both["count"].number(), 2);
  EXPECT_EQ(both["facets"]["tag"].items().size(), 2U);
  const JsonValue& first = both["hits"].items().front();
  EXPECT_EQ(first["title"].items().front()["text"].text(), "Tides");
  EXPECT_TRUE(*first["title"].items().front()["mark"].boolean());
  EXPECT_EQ(first["why"]["terms"].items().front()["term"].text(), "tide");
  EXPECT_EQ(ids(get("/api/v1/indexes/papers/search?q=tides&filter=tag%3Dsky")),
            std::vector<std::string>{"b"});
  EXPECT_EQ(ids(get("/api/v1/indexes/papers/search?q=tides&as_of=1960")),
            std::vector<std::string>{"b"});
  EXPECT_EQ(ids(get("/api/v1/indexes/papers/search?q=inner&expand=1")),
            (std::vector<std::string>{"a/1", "b"}));
  EXPECT_EQ(
      ids(send(
          "POST", "/api/v1/indexes/papers/search",
          R"({"pipeline": [{"find": "text", "q": "moon"}, {"expand": 1}, {"filter": {"tag": "sea"}}]})")),
      std::vector<std::string>{"a/1"});
}

TEST_F(IndexApiTest, ShowsDocumentsAndTheirNeighbours) {
  fill();
  const JsonValue document = get("/api/v1/indexes/papers/document?id=a%2F1")["document"];
  EXPECT_EQ(document["text"].text(), "of the inner sea");
  EXPECT_EQ(document["links"].items().front()["to"].text(), "b");
  get("/api/v1/indexes/papers/document?id=a%2F1&as_of=1960", 404);
  const JsonValue near = get("/api/v1/indexes/papers/neighbours?id=b");
  EXPECT_EQ(near["nodes"].items().size(), 2U);
  EXPECT_EQ(near["edges"].items().front()["from"].text(), "a/1");
  const JsonValue path = get("/api/v1/indexes/papers/path?from=b&to=a%2F1")["path"];
  EXPECT_EQ(*path["hops"].number(), 1);
  EXPECT_EQ(path["nodes"].items().front()["id"].text(), "b");
  EXPECT_EQ(path["edges"].items().front()["from"].text(), "a/1");
  EXPECT_TRUE(get("/api/v1/indexes/papers/path?from=b&to=a%2F1&direction=out")["path"].is_null());
  EXPECT_TRUE(get("/api/v1/indexes/papers/path?from=b&to=a%2F1&edges=cites")["path"].is_null());
  get("/api/v1/indexes/papers/path?from=b&to=z", 404);
  get("/api/v1/indexes/papers/path?from=b", 400);
  get("/api/v1/indexes/papers/path?from=b&to=a%2F1&direction=up", 400);
  ask(204, "DELETE /api/v1/indexes/papers/document?id=a%2F1 HTTP/1.1\r\nHost: localhost\r\n\r\n");
  get("/api/v1/indexes/papers/document?id=a%2F1", 404);
  EXPECT_EQ(ids(get("/api/v1/indexes/papers/search?q=tides")), std::vector<std::string>{"b"});
}

TEST_F(IndexApiTest, KeepsWhatItAcknowledgedOverARestart) {
  fill();
  start();
  EXPECT_EQ(ids(get("/api/v1/indexes/papers/search?q=moon")), std::vector<std::string>{"b"});
}

TEST_F(IndexApiTest, MayBeSentToTheInternetForVectorsButNotToItsNeighbours) {
  const JsonValue refused =
      send("POST", "/api/v1/indexes",
           R"({"name": "papers", "embed": "http:http://127.0.0.1:8089/v1#model"})", 409);
  EXPECT_NE(message(refused).find("must not be connected to"), std::string::npos)
      << message(refused);
  EXPECT_TRUE(get("/api/v1/indexes")["indexes"].items().empty());
}

TEST_F(IndexApiTest, SaysWhatIsWrongWithARequest) {
  fill();
  EXPECT_EQ(message(get("/api/v1/indexes/papers/search?q=%22open", 400)).find("this \""), 0U);
  EXPECT_EQ(message(get("/api/v1/indexes/papers/search?quest=x", 400)),
            "parameter \"quest\" is not known here");
  EXPECT_EQ(message(get("/api/v1/indexes/papers/search?q=x&k=many", 400)),
            "parameter \"k\": \"many\" is not a number");
  EXPECT_EQ(message(get("/api/v1/indexes/papers/document", 400)),
            "parameter \"id\" is missing: which document?");
  EXPECT_EQ(message(send("POST", "/api/v1/indexes/papers/documents",
                         R"({"documents": [{"title": "x"}]})", 400)),
            "document 1: a document needs an \"id\"");
  EXPECT_EQ(message(send("POST", "/api/v1/indexes", R"({"name": "../x"})", 400)),
            "\"../x\" is not a name for an index (use up to 64 letters, digits, - and _)");
  get("/api/v1/indexes/a%20b", 400);
  get("/api/v1/indexes/..%2Fx", 404);
  EXPECT_EQ(message(get("/api/v1/indexes/none/search?q=x", 404)),
            "there is no index \"none\"; there are: papers");
}

}  // namespace
}  // namespace kin::server
