#include "store/signature_store.h"

#include <benchmark/benchmark.h>

#include <thread>

#include "base/hash.h"
#include "base/memory.h"

namespace kin::store {
namespace {

constexpr std::uint64_t kSignatures = 15'000'000;
constexpr std::uint64_t kHot = 1'000'000;
constexpr std::uint64_t kBatch = 2'048;

void insert_range(TieredSignatureStore& store, std::uint64_t begin, std::uint64_t end) {
  std::vector<RecordId> ids(kBatch);
  std::vector<std::uint8_t> signatures(kBatch * store.signature_bytes());
  for (std::size_t i = 0; i < signatures.size(); ++i)
    signatures[i] = static_cast<std::uint8_t>(mix64(i));
  for (std::uint64_t at = begin; at < end; at += kBatch) {
    const std::size_t count = std::min(kBatch, end - at);
    for (std::size_t i = 0; i < count; ++i) ids[i] = RecordId(static_cast<std::uint32_t>(at + i));
    const auto inserted = store.insert_batch(
        std::span(ids).first(count), std::span(signatures).first(count * store.signature_bytes()));
    if (!inserted.ok()) std::abort();
  }
}

std::unique_ptr<TieredSignatureStore> filled() {
  auto store = *TieredSignatureStore::open({.max_hot_signatures = kHot});
  std::thread other([&] { insert_range(*store, kSignatures / 2, kSignatures); });
  insert_range(*store, 0, kSignatures / 2);
  other.join();
  return store;
}

void insert_from_two_threads(benchmark::State& state) {
  for (auto _ : state) {
    const std::uint64_t before = resident_bytes();
    const auto store = filled();
    state.counters["resident_MiB"] = static_cast<double>(resident_bytes() - before) / (1 << 20);
    state.counters["file_MiB"] = static_cast<double>(store->stats().file_bytes) / (1 << 20);
    state.PauseTiming();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kSignatures));
}
BENCHMARK(insert_from_two_threads)->Iterations(1)->Unit(benchmark::kMillisecond)->UseRealTime();

// Look-ups spread evenly over everything: close to the worst case, every page is touched.
void get_batch_spread(benchmark::State& state) {
  const auto store = filled();
  const auto wanted = static_cast<std::uint64_t>(state.range(0));
  std::vector<RecordId> ids(wanted);
  for (std::uint64_t i = 0; i < wanted; ++i)
    ids[i] = RecordId(static_cast<std::uint32_t>(i * (kSignatures / wanted)));
  std::vector<std::uint8_t> signatures(wanted * store->signature_bytes());
  std::vector<std::uint8_t> found(wanted);
  for (auto _ : state) {
    if (!store->get_batch(ids, signatures, found).ok()) std::abort();
  }
  state.counters["read_calls"] =
      static_cast<double>(store->stats().cold_reads) / static_cast<double>(state.iterations());
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(get_batch_spread)
    ->Arg(200'000)
    ->Arg(20'000)
    ->Iterations(3)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace kin::store
