// Processor time of a request to DynamoDB in this process, beside a database that runs here too.
#include "cloud/dynamo_client.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include "cloud/testing/services.h"

namespace kin::cloud {
namespace {

constexpr std::size_t kRequests = 20'000;

double processor_seconds() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

// Look-ups of absent keys: most requests of a run.
void queries(benchmark::State& state) {
  const auto server = start_service("dynoxide");
  CloudOptions options = test_options(server->url(""));
  options.in_flight = static_cast<int>(state.range(0));
  DynamoClient client(options, system_clock(), 1);
  const TableSpec spec{
      .name = "items", .key = {.partition = {.name = "pk"}, .sort = KeyAttribute{.name = "sk"}}};
  if (!client.create_table(spec).ok()) std::abort();
  std::vector<DynamoQuery> queries;
  for (std::size_t i = 0; i < kRequests; ++i)
    queries.push_back({.table = "items",
                       .partition = fmt::format("minhash#1#band#{:032x}", i),
                       .consistent = true});
  double seconds = 0;
  for (auto _ : state) {
    const double before = processor_seconds();
    const Status done = client.query_all(queries, [](std::size_t, const auto&) { return true; });
    if (!done.ok()) std::abort();
    seconds += processor_seconds() - before;
  }
  const auto requests = state.iterations() * static_cast<std::int64_t>(kRequests);
  state.SetItemsProcessed(requests);
  state.counters["processor_us_a_request"] = 1e6 * seconds / static_cast<double>(requests);
}
BENCHMARK(queries)->Arg(96)->Iterations(1)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace kin::cloud
