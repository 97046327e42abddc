#include "server/router_service.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/ascii.h"
#include "base/file.h"
#include "base/random.h"
#include "data/json_value.h"
#include "server/http/gatekeeper.h"
#include "server/node_service.h"
#include "server/testing/test_client.h"

namespace kin::server {
namespace {

using data::JsonValue;
using testing::HasSubstr;

constexpr const char* kOperator = "operators-own-token";

std::string token_of(const std::string& tenant) {
  return tenant + "-has-a-long-token";
}

struct Answered {
  int status = 0;
  JsonValue json = {};
  std::string body = {};
};

// A router and two nodes in this process, on loopback ports.
class RouterServiceTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"one", "other"}) {
      auto node = NodeService::start({.folder = folder_.path() / name});
      ASSERT_TRUE(node.ok()) << node.error().message;
      nodes_.push_back(std::move(*node));
    }
  }
  void start(const std::string& quotas = {}, const std::string& token = kOperator) {
    std::string text;
    for (const char* tenant : {"red", "green", "blue"})
      text += R"({"tenant": ")" + std::string(tenant) + R"(", "token_sha256": ")" +
              to_hex(sha256(token_of(tenant))) + "\"" +
              (std::string_view(tenant) == "red" ? quotas : "") + "}\n";
    ASSERT_TRUE(write_file_atomically(folder_.path() / "tenants.jsonl", text).ok());
    RouterServiceOptions options{.folder = folder_.path() / "router",
                                 .token = token,
                                 .tenants = folder_.path() / "tenants.jsonl"};
    for (const auto& node : nodes_)
      options.nodes.push_back("127.0.0.1:" + std::to_string(node->port()));
    options.move_grace = {};
    auto service = RouterService::start(std::move(options));
    ASSERT_TRUE(service.ok()) << service.error().message;
    router_ = std::move(*service);
  }

  Answered ask(const std::string& token, const std::string& method, const std::string& target,
               const std::string& body = {}, const std::string& fields = {}) {
    std::string all = fields;
    if (!token.empty()) all += "Authorization: Bearer " + token + "\r\n";
    if (!body.empty()) all += "Content-Type: application/json\r\n";
    const RawAnswer answer =
        TestClient(router_->port()).ask(request_text(method, target, all, body));
    auto json = data::parse_json(answer.body.empty() ? "{}" : answer.body);
    return {.status = answer.status,
            .json = json.ok() ? std::move(*json) : JsonValue(),
            .body = answer.body};
  }
  Answered by(const std::string& tenant, const std::string& method, const std::string& target,
              const std::string& body = {}) {
    return ask(token_of(tenant), method, target, body);
  }
  void make(const std::string& token, const std::string& name) {
    const Answered made = ask(token, "POST", kIndexes,
                              R"({"name": ")" + name + R"(", "embed": "none", "partitions": 4})");
    ASSERT_EQ(made.status, 201) << made.body;
  }
  static std::string documents(const std::vector<std::pair<std::string, std::string>>& all) {
    std::string body = R"({"documents": [)";
    for (const auto& [id, text] : all)
      body += (body.back() == '[' ? "" : ", ") +
              (R"({"id": ")" + id + R"(", "text": ")" + text + "\"}");
    return body + "]}";
  }
  std::set<std::string> listed(const std::string& token) {
    std::set<std::string> names;
    const Answered answer = ask(token, "GET", kIndexes);
    for (const JsonValue& index : answer.json["indexes"].items())
      names.emplace(index["name"].text());
    return names;
  }

  static constexpr const char* kIndexes = "/api/v1/indexes";
  TemporaryFolder folder_ = std::move(*TemporaryFolder::create());
  std::vector<std::unique_ptr<NodeService>> nodes_;
  std::unique_ptr<RouterService> router_;
};

TEST_F(RouterServiceTest, NobodyIsServedWithoutATokenOfTheirs) {
  start();
  make(token_of("red"), "papers");
  for (const char* token : {"", "wrong-but-long-token", "red", "red-has-a-long-toke"})
    for (const char* target : {"/api/v1/indexes", "/api/v1/indexes/papers/search?q=x"})
      EXPECT_EQ(ask(token, "GET", target).status, 401) << token;
}

TEST_F(RouterServiceTest, ReadsSayHowOldAStateTheyTake) {
  start();
  make(kOperator, "papers");
  const std::string papers = std::string(kIndexes) + "/papers";
  ASSERT_EQ(ask(kOperator, "POST", papers + "/documents", documents({{"a", "tide"}})).status, 200);
  for (const char* below : {"/search?q=tide&", "/document?id=a&", "/neighbours?id=a&",
                            "/path?from=a&to=a&", "/documents?"}) {
    for (const char* age : {"0", "2.5", "86400"}) {
      const Answered read = ask(kOperator, "GET", papers + below + "most_behind=" + age);
      EXPECT_EQ(read.status, 200) << below << read.body;
      // The owners answer.
      EXPECT_TRUE(read.json["behind_seconds"].is_null()) << read.body;
    }
    for (const char* age : {"", "-1", "soon", "86401", "nan"})
      EXPECT_EQ(ask(kOperator, "GET", papers + below + "most_behind=" + age).status, 400)
          << below << age;
  }
  const Answered posted =
      ask(kOperator, "POST", papers + "/search?most_behind=1", R"({"q": "tide"})");
  EXPECT_EQ(posted.json["hits"].items().size(), 1U) << posted.body;
}

// Without an operator's token, what is made of an empty one opens nothing.
TEST_F(RouterServiceTest, WithoutAnOperatorThereIsNoEmptyToken) {
  start({}, "");
  make(token_of("red"), "papers");
  EXPECT_EQ(listed(token_of("red")), std::set<std::string>{"papers"});
  const std::string cookie = to_hex(sha256("kindred cookie 1\n"));
  for (const std::string& fields :
       {std::string(), std::string("Authorization: Bearer \r\n"),
        std::string("Authorization: Bearer\r\n"), "Cookie: kindred=" + cookie + "\r\n"})
    EXPECT_EQ(ask("", "GET", kIndexes, {}, fields).status, 401) << fields;
  EXPECT_EQ(ask("", "GET", "/?token=").status, 401);
  EXPECT_EQ(ask("", "POST", "/api/v1/login", R"({"token": ""})").status, 401);
}

TEST_F(RouterServiceTest, TenantsHaveNamesOfTheirOwnAndTheOperatorSeesAll) {
  start();
  make(token_of("red"), "papers");
  make(token_of("blue"), "papers");
  make(kOperator, "papers");
  EXPECT_EQ(listed(token_of("red")), std::set<std::string>{"papers"});
  EXPECT_EQ(listed(token_of("green")), std::set<std::string>{});
  EXPECT_EQ(by("red", "GET", "/metrics").status, 403);
  EXPECT_EQ(ask(kOperator, "GET", "/metrics").status, 200);
  EXPECT_EQ(listed(kOperator), (std::set<std::string>{"blue.papers", "papers", "red.papers"}));
  EXPECT_EQ(
      by("red", "POST", "/api/v1/indexes/papers/documents", documents({{"a", "tide"}})).status,
      200);
  const auto count = [&](const std::string& token, const std::string& name) {
    return *ask(token, "GET", "/api/v1/indexes/" + name + "/search?q=tide").json["count"].number();
  };
  EXPECT_EQ(count(token_of("red"), "papers"), 1);
  EXPECT_EQ(count(token_of("blue"), "papers"), 0);
  EXPECT_EQ(count(kOperator, "red.papers"), 1);
  EXPECT_EQ(count(kOperator, "papers"), 0);
}

// Whatever a request says, the token decides.
TEST_F(RouterServiceTest, NothingInARequestNamesAnotherTenant) {
  start();
  make(token_of("red"), "papers");
  ASSERT_EQ(
      by("red", "POST", "/api/v1/indexes/papers/documents", documents({{"a", "tide"}})).status,
      200);
  for (const char* name : {"red.papers", "red%2Epapers", ".papers", "..papers", "red%2Fpapers",
                           "green.red.papers", "papers"}) {
    for (const char* below : {"", "/search?q=tide", "/document?id=a"}) {
      const Answered answer = by("green", "GET", std::string("/api/v1/indexes/") + name + below);
      EXPECT_TRUE(answer.status == 400 || answer.status == 404) << name << below << answer.status;
    }
    const Answered removed =
        by("green", "DELETE", std::string("/api/v1/indexes/") + name + "/document?id=a");
    EXPECT_TRUE(removed.status == 400 || removed.status == 404) << name;
  }
  for (const char* body : {R"({"name": "red.other", "embed": "none"})",
                           R"({"name": "other", "embed": "none", "tenant": "red"})"})
    EXPECT_EQ(by("green", "POST", kIndexes, body).status, 400) << body;
  const Answered marked = ask(token_of("green"), "GET", std::string(kIndexes) + "?tenant=red", {},
                              "X-Tenant: red\r\nTenant: red\r\n");
  EXPECT_TRUE(marked.json["indexes"].items().empty()) << marked.body;
  EXPECT_EQ(by("red", "GET", "/api/v1/indexes/papers/document?id=a").status, 200);
}

TEST_F(RouterServiceTest, QuotasAreRefusedInPlainWords) {
  start(R"(, "entities": 3)");
  make(token_of("red"), "papers");
  make(token_of("green"), "papers");
  const std::string path = "/api/v1/indexes/papers/documents";
  EXPECT_EQ(by("red", "POST", path, documents({{"a", "x"}, {"b", "x"}})).status, 200);
  const Answered full = by("red", "POST", path, documents({{"c", "x"}, {"d", "x"}}));
  EXPECT_EQ(full.status, 403);
  EXPECT_THAT(full.body, HasSubstr("of its 3 documents"));
  EXPECT_EQ(by("red", "POST", path, documents({{"a", "y"}, {"c", "x"}})).status, 200);
  EXPECT_EQ(by("red", "POST", path, documents({{"d", "x"}})).status, 403);
  EXPECT_EQ(
      by("green", "POST", path, documents({{"a", "x"}, {"b", "x"}, {"c", "x"}, {"d", "x"}})).status,
      200);
  EXPECT_EQ(by("red", "DELETE", "/api/v1/indexes/papers/document?id=a").status, 204);
  EXPECT_TRUE(
      eventually([&] { return by("red", "POST", path, documents({{"d", "x"}})).status == 200; }));
}

TEST_F(RouterServiceTest, RequestsBeyondTheRateAreToldWhenToComeAgain) {
  start(R"(, "queries_per_second": 0.001)");
  EXPECT_EQ(by("red", "GET", kIndexes).status, 200);
  const RawAnswer refused =
      TestClient(router_->port())
          .ask(request_text("GET", kIndexes, "Authorization: Bearer " + token_of("red") + "\r\n"));
  EXPECT_EQ(refused.status, 429);
  EXPECT_GT(std::atoi(std::string(refused.header("Retry-After")).c_str()), 0);
  EXPECT_EQ(by("green", "GET", kIndexes).status, 200);
}

TEST_F(RouterServiceTest, ATokenThatIsTakenOutOfTheFileIsRefusedSoon) {
  start();
  EXPECT_EQ(by("red", "GET", kIndexes).status, 200);
  const std::string only =
      R"({"tenant": "blue", "token_sha256": ")" + to_hex(sha256(token_of("blue"))) + "\"}\n";
  ASSERT_TRUE(write_file_atomically(folder_.path() / "tenants.jsonl", only).ok());
  EXPECT_TRUE(eventually([&] { return by("red", "GET", kIndexes).status == 401; }));
  EXPECT_EQ(by("blue", "GET", kIndexes).status, 200);
}

// What one tenant should see: its indexes, and the word of each document in them.
using TenantModel = std::map<std::string, std::map<std::string, std::string>>;

// Random requests of three tenants who use the same names, ids and words. Every answer must be the
// one that the tenant would get if it were alone.
class CrossingRun {
 public:
  using Ask = std::function<Answered(const std::string& tenant, const std::string& method,
                                     const std::string& target, const std::string& body)>;
  CrossingRun(Ask ask, std::uint64_t seed) : ask_(std::move(ask)), random_(seed) {}

  void step() {
    tenant_ = pick({"red", "green", "blue"});
    name_ = pick({"papers", "news", "red", "blue-papers"});
    id_ = pick({"a", "b", "c", "d"});
    word_ = pick({"tide", "moon", "river"});
    switch (random_.below(8)) {
      case 0: return create();
      case 1:
      case 2: return add();
      case 3: return remove();
      case 4: return list();
      case 5: return read();
      default: return search();
    }
  }

 private:
  std::string pick(std::initializer_list<const char*> from) {
    return *(from.begin() + random_.below(from.size()));
  }
  Answered ask(const std::string& method, const std::string& below, const std::string& body = {}) {
    return ask_(tenant_, method, "/api/v1/indexes" + below, body);
  }
  TenantModel& mine() { return models_[tenant_]; }
  bool exists() { return mine().contains(name_); }

  void create() {
    const Answered answer =
        ask("POST", "", R"({"name": ")" + name_ + R"(", "embed": "none", "partitions": 2})");
    ASSERT_EQ(answer.status, exists() ? 409 : 201) << answer.body;
    mine()[name_];
  }
  void add() {
    const std::string body =
        R"({"documents": [{"id": ")" + id_ + R"(", "text": ")" + word_ + R"("}]})";
    const Answered answer = ask("POST", "/" + name_ + "/documents", body);
    ASSERT_EQ(answer.status, exists() ? 200 : 404) << answer.body;
    if (exists()) mine()[name_][id_] = word_;
  }
  void remove() {
    const Answered answer = ask("DELETE", "/" + name_ + "/document?id=" + id_);
    const bool there = exists() && mine()[name_].erase(id_) > 0;
    ASSERT_EQ(answer.status, there ? 204 : 404) << answer.body;
  }
  void list() {
    std::set<std::string> expected;
    std::set<std::string> found;
    for (const auto& [name, documents] : mine()) expected.insert(name);
    const Answered answer = ask("GET", "");
    for (const JsonValue& index : answer.json["indexes"].items())
      found.emplace(index["name"].text());
    ASSERT_EQ(found, expected) << tenant_;
  }
  void read() {
    const Answered answer = ask("GET", "/" + name_ + "/document?id=" + id_);
    const bool there = exists() && mine()[name_].contains(id_);
    ASSERT_EQ(answer.status, there ? 200 : 404) << answer.body;
    if (there) {
      ASSERT_EQ(answer.json["document"]["text"].text(), mine()[name_][id_]);
    }
  }
  void search() {
    const Answered answer = ask("GET", "/" + name_ + "/search?q=" + word_);
    ASSERT_EQ(answer.status, exists() ? 200 : 404) << answer.body;
    if (!exists()) return;
    std::set<std::string> expected;
    std::set<std::string> found;
    for (const auto& [id, word] : mine()[name_]) {
      if (word == word_) expected.insert(id);
    }
    for (const JsonValue& hit : answer.json["hits"].items()) found.emplace(hit["id"].text());
    ASSERT_EQ(found, expected) << tenant_ << " " << name_ << " " << answer.body;
    ASSERT_EQ(*answer.json["count"].number(), static_cast<double>(expected.size()));
  }

  Ask ask_;
  Random random_;
  std::map<std::string, TenantModel> models_;
  std::string tenant_, name_, id_, word_;
};

TEST_F(RouterServiceTest, NoRequestCrossesTenants) {
  start();
  CrossingRun run(
      [this](const std::string& tenant, const std::string& method, const std::string& target,
             const std::string& body) { return by(tenant, method, target, body); },
      1);
  for (int i = 0; i < 600 && !HasFatalFailure(); ++i) run.step();
}

// Moves by the API of a router, with two nodes and a third that joins.
class RouterMovesTest : public RouterServiceTest {
 protected:
  Answered on_papers(const std::string& method, const std::string& below,
                     const std::string& body = {}) {
    return ask(kOperator, method, std::string(kIndexes) + "/papers" + below, body);
  }
  void fill() {
    start();
    make(kOperator, "papers");
    std::vector<std::pair<std::string, std::string>> all;
    for (int i = 0; i < 40; ++i) all.emplace_back(std::to_string(i), "an ebbing tide");
    ASSERT_EQ(on_papers("POST", "/documents", documents(all)).status, 200);
  }
  std::string node(std::size_t number) {
    return "127.0.0.1:" + std::to_string(nodes_[number]->port());
  }
  // The moves when all of them are over.
  Answered await_moves() {
    const SteadyTime end = system_clock().steady_now() + std::chrono::minutes{1};
    for (;;) {
      Answered moves = on_papers("GET", "/moves");
      const auto& items = moves.json["moves"].items();
      const bool over = moves.status == 200 && std::ranges::all_of(items, [](const auto& move) {
                          return *move["over"].boolean();
                        });
      if (over || system_clock().steady_now() > end) return moves;
      system_clock().sleep_for(std::chrono::milliseconds{10});
    }
  }
  double found() {
    const Answered answer = on_papers("GET", "/search?q=tide");
    return answer.status == 200 ? *answer.json["count"].number() : -1;
  }
  std::vector<double> partitions_of_nodes() {
    std::vector<double> all;
    const Answered index = on_papers("GET", "");
    for (const JsonValue& shard : index.json["index"]["shards"].items())
      all.push_back(*shard["partitions"].number());
    return all;
  }
};

TEST_F(RouterMovesTest, APartitionMovesAndADryRunDoesNot) {
  fill();
  EXPECT_EQ(on_papers("GET", "/moves").body, R"({"moves":[],"repartition":null})");
  const std::string body = R"({"partitions": [0], "to": ")" + node(1) + "\"";
  const Answered plan = on_papers("POST", "/moves", body + R"(, "dry_run": true})");
  ASSERT_EQ(plan.status, 200) << plan.body;
  EXPECT_EQ(plan.json["plan"]["moves"].items().size(), 1U);
  EXPECT_EQ(*plan.json["begun"].number(), 0);
  EXPECT_EQ(on_papers("GET", "/moves").body, R"({"moves":[],"repartition":null})");
  const Answered begun = on_papers("POST", "/moves", body + "}");
  EXPECT_EQ(*begun.json["begun"].number(), 1) << begun.body;
  const Answered moves = await_moves();
  EXPECT_EQ(moves.json["moves"].items()[0]["phase"].text(), "done") << moves.body;
  EXPECT_EQ(moves.json["moves"].items()[0]["to"].text(), node(1));
  EXPECT_THAT(partitions_of_nodes(), testing::ElementsAre(1, 3));
  EXPECT_EQ(found(), 40);
  const Answered metrics = ask(kOperator, "GET", "/metrics");
  EXPECT_THAT(metrics.body, HasSubstr("kindred_index_moves{index=\"papers\",phase=\"done\"} 1"));
  EXPECT_THAT(metrics.body, HasSubstr("kindred_moves_done 1"));
}

TEST_F(RouterMovesTest, ANodeJoinsAndAnotherIsDrained) {
  fill();
  auto more = NodeService::start({.folder = folder_.path() / "third"});
  ASSERT_TRUE(more.ok()) << more.error().message;
  nodes_.push_back(std::move(*more));
  const std::string body = R"({"node": ")" + node(2) + "\"";
  const Answered plan = on_papers("POST", "/split", body + R"(, "dry_run": true})");
  EXPECT_EQ(plan.json["plan"]["shards"].items().size(), 3U) << plan.body;
  EXPECT_EQ(partitions_of_nodes().size(), 2U);
  EXPECT_EQ(on_papers("POST", "/split", body + "}").status, 200);
  await_moves();
  EXPECT_GE(partitions_of_nodes().at(2), 1);
  const Answered drained = on_papers("POST", "/drain", R"({"node": ")" + node(0) + "\"}");
  EXPECT_EQ(drained.status, 200) << drained.body;
  await_moves();
  EXPECT_EQ(partitions_of_nodes().at(0), 0);
  nodes_[0].reset();
  EXPECT_EQ(found(), 40);
  EXPECT_EQ(*on_papers("POST", "/check", "{}").json["check"]["documents"].number(), 40);
  // An index of the name that is made later begins without moves.
  EXPECT_EQ(on_papers("POST", "/drain", R"({"node": "10.1.1.1:1"})").status, 404);
}

TEST_F(RouterMovesTest, ARouterThatIsStartedAgainGoesOn) {
  fill();
  const std::string body = R"({"node": ")" + node(0) + "\"}";
  ASSERT_EQ(on_papers("POST", "/drain", body).status, 200);
  router_.reset();
  start();
  const Answered moves = await_moves();
  for (const JsonValue& move : moves.json["moves"].items())
    EXPECT_EQ(move["phase"].text(), "done") << moves.body;
  EXPECT_THAT(partitions_of_nodes(), testing::ElementsAre(0, 4));
  EXPECT_EQ(found(), 40);
}

TEST_F(RouterMovesTest, MovesOfADroppedIndexAreForgotten) {
  fill();
  const std::string body = R"({"partitions": [0], "to": ")" + node(1) + "\"}";
  ASSERT_EQ(on_papers("POST", "/moves", body).status, 200);
  await_moves();
  ASSERT_EQ(on_papers("DELETE", "").status, 204);
  make(kOperator, "papers");
  EXPECT_EQ(on_papers("GET", "/moves").body, R"({"moves":[],"repartition":null})");
}

TEST_F(RouterMovesTest, MistakesAreNamed) {
  fill();
  const auto error = [&](const std::string& below, const std::string& body) {
    const Answered answer = on_papers("POST", below, body);
    EXPECT_GE(answer.status, 400);
    return std::string(answer.json["error"]["message"].text());
  };
  EXPECT_THAT(error("/moves", R"({"to": "x"})"), HasSubstr("partitions"));
  EXPECT_THAT(error("/moves", R"({"partitions": [9], "to": ")" + node(0) + "\"}"),
              HasSubstr("has no partition 9"));
  EXPECT_THAT(error("/drain", R"({"node": "10.1.1.1:1"})"), HasSubstr("no shard on node 10.1.1.1:1"));
  EXPECT_THAT(error("/balance", R"({"by": "weather"})"), HasSubstr("size, load"));
  EXPECT_THAT(error("/abort", "{}"), HasSubstr("either"));
  EXPECT_THAT(error("/abort", R"({"partitions": [1]})"), HasSubstr("never moved"));
  EXPECT_EQ(by("red", "GET", std::string(kIndexes) + "/papers/moves").status, 403);
  EXPECT_EQ(by("red", "POST", std::string(kIndexes) + "/papers/drain", "{}").status, 403);
}

}  // namespace
}  // namespace kin::server
