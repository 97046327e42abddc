#include "store/lsh_index.h"

#include <benchmark/benchmark.h>

#include <array>

#include "base/hash.h"
#include "base/memory.h"

namespace kin::store {
namespace {

using Keys = std::array<std::uint64_t, 16>;

Keys keys_of(std::uint64_t number) {
  Keys keys;
  for (std::size_t band = 0; band < keys.size(); ++band) keys[band] = mix64(number * 64 + band);
  return keys;
}

// The access pattern of streaming deduplication: query, then insert.
void query_then_insert(benchmark::State& state) {
  const auto documents = static_cast<std::uint64_t>(state.range(0));
  for (auto _ : state) {
    const std::uint64_t before = resident_bytes();
    LshIndex index;
    double most = 0;
    for (std::uint64_t i = 0; i < documents; ++i) {
      const Keys keys = keys_of(i);
      benchmark::DoNotOptimize(index.query(keys));
      index.insert(RecordId(static_cast<std::uint32_t>(i)), keys);
      if (i >= 100'000 && i % 50'000 == 0)
        most = std::max(most, static_cast<double>(index.bytes()) / static_cast<double>(i));
    }
    state.counters["most_bytes_a_document"] = most;
    state.counters["resident_bytes_a_document"] =
        static_cast<double>(resident_bytes() - before) / static_cast<double>(documents);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(query_then_insert)
    ->Arg(100'000)
    ->Arg(1'000'000)
    ->Arg(5'000'000)
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace kin::store
