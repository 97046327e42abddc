#include "bench/nodes/nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <mutex>
#include <sstream>
#include <thread>

#include "base/file.h"
#include "base/json_writer.h"
#include "bench/measure.h"
#include "bench/nodes/fleet.h"
#include "bench/search/text_collection.h"
#include "router/shard_map.h"
#include "rpc/grpc_client.h"
#include "search/asking.h"
#include "search/search_index.h"

namespace kin::bench {
namespace {

namespace fs = std::filesystem;
using search::Document;

constexpr const char* kIndex = "papers";
constexpr std::size_t kPartitions = 64;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

LatencyFigures latency(std::vector<double> seconds) {
  if (seconds.empty()) return {};
  std::ranges::sort(seconds);
  return {.p50 = 1e3 * seconds[seconds.size() / 2],
          .p99 = 1e3 * seconds[seconds.size() * 99 / 100]};
}

// The documents in batches, as bodies of requests.
std::vector<std::string> bodies_of(const std::vector<Document>& documents, std::uint64_t batch) {
  std::vector<std::string> bodies;
  for (std::size_t at = 0; at < documents.size(); at += batch) {
    JsonWriter json;
    json.begin_object().key("documents").begin_array();
    for (std::size_t i = at; i < std::min(documents.size(), at + batch); ++i)
      search::write_document(json, documents[i]);
    bodies.push_back(json.end().end().take());
  }
  return bodies;
}

// Documents a second, added by several callers.
Result<double> add_all(const Fleet& fleet, const std::vector<std::string>& bodies,
                       std::uint64_t callers, std::size_t documents) {
  std::mutex mutex;
  std::size_t next = 0;
  Status failed = Done{};
  const double begin = now();
  std::vector<std::jthread> threads;
  for (std::uint64_t i = 0; i < callers; ++i) {
    threads.emplace_back([&] {
      Caller caller(fleet.router().port());
      for (;;) {
        std::unique_lock lock(mutex);
        if (next == bodies.size() || !failed.ok()) return;
        const std::string& body = bodies[next++];
        lock.unlock();
        const auto added = caller.post(fmt::format("/indexes/{}/documents", kIndex), body);
        lock.lock();
        if (!added.ok()) failed = added.error();
      }
    });
  }
  threads.clear();
  KIN_RETURN_IF_ERROR(failed);
  return static_cast<double>(documents) / (now() - begin);
}

Status create_index(const Fleet& fleet) {
  KIN_TRY([[maybe_unused]] const auto made,
          Caller(fleet.router().port())
              .post("/indexes", fmt::format(R"({{"name":"{}","embed":"none","partitions":{}}})",
                                            kIndex, kPartitions)));
  return Done{};
}

// One batch at a time, as `kindred index add` does without a router.
Result<double> add_locally(const fs::path& folder, const std::vector<Document>& documents,
                           std::uint64_t batch) {
  search::IndexConfig config;
  KIN_RETURN_IF_ERROR(search::choose_vectors(config, "none", 0));
  KIN_RETURN_IF_ERROR(search::SearchIndex::create(folder, config, {}));
  KIN_TRY(const auto index, search::SearchIndex::open(folder, {.tend = true}));
  const double begin = now();
  for (std::size_t at = 0; at < documents.size(); at += batch) {
    const std::size_t count = std::min<std::size_t>(batch, documents.size() - at);
    KIN_RETURN_IF_ERROR(index->add({documents.data() + at, count}));
  }
  return static_cast<double>(documents.size()) / (now() - begin);
}

search::Question question_of(const std::vector<std::string>& words) {
  search::Question question;
  for (const std::string& word : words) question.text += word + " ";
  question.plain = true;
  question.mode = search::Mode::kText;
  return question;
}

// The request that a router sends to the only shard of an index.
router::FindRequest direct_request(const search::Question& question, const router::ShardMap& map) {
  const index::TextLeg leg = search::text_leg(question);
  router::FindRequest request;
  request.query = {.text = leg, .k = question.k, .count = true, .words_only = true};
  request.query.scope.partitions = map.partitions_of(0);
  request.show =
      router::Show{.text = leg, .snippets = {.length = search::kSnippetBytes}, .most = question.k};
  return request;
}

using Questions = std::vector<search::Question>;

Status ask_routed(Caller& caller, const search::Question& question, std::vector<double>& times) {
  const std::string body = search::to_json(question);
  const double begin = now();
  KIN_TRY([[maybe_unused]] const auto answer,
          caller.post(fmt::format("/indexes/{}/search", kIndex), body));
  times.push_back(now() - begin);
  return Done{};
}

// In turns, so that whatever else the machine does concerns both.
Status compare(const Fleet& fleet, const Questions& questions, NodesFigures& figures) {
  const std::string address = fleet.nodes().front().address();
  KIN_TRY(auto node, rpc::NodeConnection::open(address));
  rpc::GrpcClient shard(std::move(node), kIndex);
  const router::ShardMap map = router::spread_partitions(kIndex, {address}, kPartitions);
  Caller caller(fleet.router().port());
  std::vector<double> direct, routed;
  for (int warm = 0; warm < 2; ++warm) {
    direct.clear();
    routed.clear();
    for (const search::Question& question : questions) {
      router::FindRequest request = direct_request(question, map);
      const double begin = now();
      const auto reply = router::call(shard, std::move(request), {.map_epoch = map.epoch});
      direct.push_back(now() - begin);
      if (!reply.ok()) return reply.error();
      if (!std::holds_alternative<router::FindReply>(*reply))
        return Error{Code::kInternal, "the node refuses the request"};
      KIN_RETURN_IF_ERROR(ask_routed(caller, question, routed));
    }
  }
  figures.direct = latency(std::move(direct));
  figures.routed = latency(std::move(routed));
  return Done{};
}

// Searches of shards that the router has asked for so far.
Result<double> count_searches(const Fleet& fleet) {
  KIN_TRY(const std::string metrics, Caller(fleet.router().port()).get("/metrics"));
  std::istringstream lines(metrics);
  double sum = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("kindred_node_call_seconds_count{call=\"find\""))
      sum += std::stod(line.substr(line.rfind(' ') + 1));
  }
  return sum;
}

// The second time the router knows the words, and the nodes have read their files.
Status measure(const Fleet& fleet, const Questions& questions, NodesFigures::Step& step) {
  fleet.settle();
  Caller caller(fleet.router().port());
  std::vector<double> times;
  for (const search::Question& question : questions)
    KIN_RETURN_IF_ERROR(ask_routed(caller, question, times));
  times.clear();
  KIN_TRY(const double searches, count_searches(fleet));
  const double begin = fleet.processor_seconds();
  const double router = fleet.router().processor_seconds();
  for (const search::Question& question : questions)
    KIN_RETURN_IF_ERROR(ask_routed(caller, question, times));
  const auto asked = static_cast<double>(questions.size());
  step.processor = 1e3 * (fleet.processor_seconds() - begin) / asked;
  step.router = 1e3 * (fleet.router().processor_seconds() - router) / asked;
  KIN_TRY(const double more, count_searches(fleet));
  step.visited = (more - searches) / asked;
  step.routed = latency(std::move(times));
  return Done{};
}

// What all steps share.
struct Inputs {
  const NodesBench& bench;
  std::vector<Document> articles = {};
  std::vector<std::string> bodies = {};
  Questions questions = {};
};

Result<Inputs> read_inputs(const NodesBench& bench) {
  Inputs inputs{.bench = bench};
  KIN_TRY(inputs.articles, read_articles(bench.articles));
  inputs.bodies = bodies_of(inputs.articles, bench.batch);
  for (const auto& words : title_queries(inputs.articles, static_cast<int>(bench.queries)))
    inputs.questions.push_back(question_of(words));
  if (inputs.questions.empty())
    return Error{Code::kInvalidArgument, "the articles have no titles to make questions of"};
  return inputs;
}

// Inserts into a local shard and, right after it, over nodes; questions to the last fleet.
Result<NodesFigures::Step> run_step(const Inputs& inputs, std::uint64_t nodes,
                                    NodesFigures& figures) {
  const NodesBench& bench = inputs.bench;
  NodesFigures::Step step{.nodes = nodes};
  std::vector<double> local, routed, shares;
  for (int round = 1; round <= bench.rounds; ++round) {
    KIN_TRY(const TemporaryFolder folder, TemporaryFolder::create(bench.folder));
    KIN_TRY(const double alone, add_locally(folder.path() / "local", inputs.articles, bench.batch));
    KIN_TRY(const auto fleet, Fleet::start(nodes, folder.path() / "fleet"));
    KIN_RETURN_IF_ERROR(create_index(*fleet));
    KIN_TRY(const double over,
            add_all(*fleet, inputs.bodies, bench.callers, inputs.articles.size()));
    local.push_back(alone);
    routed.push_back(over);
    shares.push_back(over / alone);
    if (round < bench.rounds) continue;
    KIN_RETURN_IF_ERROR(measure(*fleet, inputs.questions, step));
    if (nodes == 1) KIN_RETURN_IF_ERROR(compare(*fleet, inputs.questions, figures));
  }
  step.local = median(std::move(local));
  step.inserts = median(std::move(routed));
  step.share = median(std::move(shares));
  return step;
}

}  // namespace

Result<NodesFigures> bench_nodes(const NodesBench& bench) {
  KIN_TRY(const Inputs inputs, read_inputs(bench));
  NodesFigures figures{.bench = bench, .documents = inputs.articles.size()};
  figures.bench.queries = inputs.questions.size();
  for (const std::uint64_t nodes : bench.nodes) {
    KIN_TRY(const NodesFigures::Step step, run_step(inputs, nodes, figures));
    figures.steps.push_back(step);
  }
  return figures;
}

std::string to_json(const NodesFigures& figures) {
  JsonWriter json;
  const auto write = [&](std::string_view name, const LatencyFigures& times) {
    json.key(name).begin_object().field("p50_ms", times.p50).field("p99_ms", times.p99).end();
  };
  json.begin_object().field("documents", figures.documents);
  json.field("questions", figures.bench.queries);
  if (figures.direct.p50 > 0) {
    write("direct", figures.direct);
    write("routed", figures.routed);
  }
  json.key("steps").begin_array();
  for (const NodesFigures::Step& step : figures.steps) {
    json.begin_object().field("nodes", step.nodes);
    json.field("local_inserts_per_second", step.local);
    json.field("inserts_per_second", step.inserts).field("share_of_local", step.share);
    write("routed", step.routed);
    json.field("shards_visited", step.visited);
    json.field("processor_ms", step.processor).field("router_processor_ms", step.router).end();
  }
  return json.end().end().take();
}

std::string to_table(const NodesFigures& figures) {
  std::string out =
      fmt::format("{} documents, {} questions\n", figures.documents, figures.bench.queries);
  if (figures.direct.p50 > 0) {
    out += fmt::format("{:<28}{:>10}{:>10}\n", "one question, ms", "p50", "p99");
    out += fmt::format("{:<28}{:>10.3f}{:>10.3f}\n", "direct call to the node", figures.direct.p50,
                       figures.direct.p99);
    out += fmt::format("{:<28}{:>10.3f}{:>10.3f}\n", "through the router", figures.routed.p50,
                       figures.routed.p99);
    out += fmt::format("{:<28}{:>10.3f}{:>10.3f}\n", "overhead",
                       figures.routed.p50 - figures.direct.p50,
                       figures.routed.p99 - figures.direct.p99);
  }
  out += fmt::format("{:<7}{:>10}{:>11}{:>8}{:>9}{:>9}{:>9}{:>14}{:>11}{:>8}\n", "nodes", "local/s",
                     "inserts/s", "share", "p50 ms", "p99 ms", "visited", "processor ms",
                     "router ms", "growth");
  for (const NodesFigures::Step& step : figures.steps) {
    out += fmt::format(
        "{:<7}{:>10.0f}{:>11.0f}{:>8.2f}{:>9.3f}{:>9.3f}{:>9.2f}{:>14.3f}{:>11.3f}{:>8.2f}\n",
        step.nodes, step.local, step.inserts, step.share, step.routed.p50, step.routed.p99,
        step.visited, step.processor, step.router,
        step.processor / figures.steps.front().processor);
  }
  return out;
}

}  // namespace kin::bench
