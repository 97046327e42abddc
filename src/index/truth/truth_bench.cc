#include "index/truth/truth.h"

#include <benchmark/benchmark.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/file.h"
#include "base/random.h"
#include "index/graph.h"

namespace kin::index {
namespace {

constexpr std::size_t kBatch = 100;
constexpr std::size_t kTextBytes = 1'024;
constexpr std::size_t kDimensions = 100;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

std::string prose(Random& random) {
  std::string text;
  while (text.size() < kTextBytes) {
    for (std::uint64_t letters = 2 + random.below(8); letters > 0; --letters)
      text += static_cast<char>('a' + random.below(26));
    text += ' ';
  }
  return text;
}

DocId number_id(std::uint64_t number) {
  return doc_id_of("bench", std::to_string(number));
}

void add_entity(std::uint64_t number, Random& random, std::vector<Mutation>& mutations) {
  Entity entity;
  entity.id = number_id(number);
  entity.key = std::to_string(number);
  entity.source = "bench";
  entity.title = "Entity " + entity.key;
  entity.text = prose(random);
  entity.tags = {"made-up", "tag" + std::to_string(number % 97)};
  entity.vectors = {{"words", std::vector<float>(kDimensions)}};
  for (float& value : entity.vectors[0].values) value = static_cast<float>(random.unit() - 0.5);
  mutations.emplace_back(PutEntity{.entity = std::move(entity)});
  for (int i = 0; i < 2; ++i) {
    Edge edge;
    edge.id = {.from = number_id(number),
               .name = "cites",
               .to = number_id(random.below(number + 1)),
               .since = static_cast<Millis>(i)};
    mutations.emplace_back(PutEdge{.edge = edge});
  }
}

// Durable inserts of entities with a vector, a text of 1 KB and two edges, a sync a batch; the rate
// over all, and of the first and the last sixth; also the processor's time of the writing thread,
// which a busy machine does not distort as much.
void insert(benchmark::State& state) {
  const auto entities = static_cast<std::uint64_t>(state.range(0));
  for (auto _ : state) {
    const TemporaryFolder folder = std::move(*TemporaryFolder::create());
    const auto truth = std::move(*Truth::open(folder.path() / "truth", {}));
    Random random(1);
    std::vector<double> sixths(6, 0);
    std::vector<double> busy(6, 0);
    for (std::uint64_t at = 0; at < entities; at += kBatch) {
      std::vector<Mutation> mutations;
      for (std::uint64_t i = at; i < at + kBatch; ++i) add_entity(i, random, mutations);
      const double busy_before = processor_seconds();
      const auto start = std::chrono::steady_clock::now();
      const auto applied = truth->apply(mutations, {.sync = state.range(1) != 0});
      KIN_CHECK(applied.ok(), "the batch is written");
      sixths[at * 6 / entities] += seconds_since(start);
      busy[at * 6 / entities] += processor_seconds() - busy_before;
    }
    double all = 0;
    for (const double seconds : sixths) all += seconds;
    const auto count = static_cast<double>(entities);
    state.SetIterationTime(all);
    state.counters["a_second"] = count / all;
    state.counters["first_sixth"] = count / 6 / sixths.front();
    state.counters["last_sixth"] = count / 6 / sixths.back();
    state.counters["slowest_sixth"] = count / 6 / *std::max_element(sixths.begin(), sixths.end());
    state.counters["first_busy_us"] = busy.front() * 6e6 / count;
    state.counters["last_busy_us"] = busy.back() * 6e6 / count;
    const auto closing = std::chrono::steady_clock::now();
    KIN_CHECK(truth->close().ok(), "the truth closes");
    state.counters["close_s"] = seconds_since(closing);
    const auto opening = std::chrono::steady_clock::now();
    const auto again = Truth::open(folder.path() / "truth", {});
    KIN_CHECK(again.ok() && (*again)->view()->counters().entities == entities, "all are there");
    state.counters["open_s"] = seconds_since(opening);
  }
}
BENCHMARK(insert)
    ->ArgNames({"entities", "sync"})
    ->Args({300'000, 1})
    ->Args({60'000, 0})
    ->Iterations(1)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

struct Filled {
  TemporaryFolder folder = std::move(*TemporaryFolder::create());
  std::unique_ptr<Truth> truth = std::move(*Truth::open(folder.path() / "truth", {}));
  static constexpr std::uint64_t kEntities = 50'000;
  Filled() {
    Random random(1);
    for (std::uint64_t at = 0; at < kEntities; at += 1'000) {
      std::vector<Mutation> mutations;
      for (std::uint64_t i = at; i < at + 1'000; ++i) add_entity(i, random, mutations);
      KIN_CHECK(truth->apply(mutations, {.sync = false}).ok(), "the batch is written");
    }
    KIN_CHECK(truth->flush().ok(), "the truth is flushed");
  }
};

const Filled& filled() {
  static const Filled once;
  return once;
}

void get_ten(benchmark::State& state) {
  const Filled& shard = filled();
  Random random(2);
  for (auto _ : state) {
    const TruthView view = std::move(*shard.truth->view());
    std::vector<DocId> ids(10);
    for (DocId& id : ids) id = number_id(random.below(Filled::kEntities));
    benchmark::DoNotOptimize(view.get_many(ids, {.vectors = false}));
  }
}
BENCHMARK(get_ten)->Unit(benchmark::kMicrosecond);

void two_hops(benchmark::State& state) {
  const Filled& shard = filled();
  Random random(3);
  std::size_t nodes = 0;
  for (auto _ : state) {
    const TruthView view = std::move(*shard.truth->view());
    const auto found = traverse(view, {.from = {number_id(random.below(Filled::kEntities))},
                                       .direction = Direction::kBoth,
                                       .hops = 2,
                                       .max_nodes = 100});
    nodes += found->nodes.size();
  }
  state.counters["nodes"] =
      benchmark::Counter(static_cast<double>(nodes), benchmark::Counter::kAvgIterations);
}
BENCHMARK(two_hops)->Unit(benchmark::kMicrosecond);

void path(benchmark::State& state) {
  const Filled& shard = filled();
  Random random(4);
  for (auto _ : state) {
    const TruthView view = std::move(*shard.truth->view());
    benchmark::DoNotOptimize(
        shortest_path(view, {.from = number_id(random.below(Filled::kEntities)),
                             .to = number_id(random.below(Filled::kEntities)),
                             .direction = Direction::kBoth}));
  }
}
BENCHMARK(path)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace kin::index
