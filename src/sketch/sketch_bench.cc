// Text to shingles to signatures, one core. KIN_BENCH_PROSE names a file with a document a line to
// measure on; without it the prose is made up, of English word lengths.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "base/check.h"
#include "sketch/banding.h"
#include "sketch/chunks.h"
#include "sketch/jaccard.h"
#include "sketch/kernels/each_target.h"
#include "sketch/minhash.h"
#include "sketch/shingles.h"
#include "sketch/simhash.h"
#include "text/normalize.h"

namespace kin::sketch {
namespace {

using Documents = std::vector<std::string>;

Documents made_up_prose() {
  std::mt19937_64 random(1);
  std::lognormal_distribution<double> length(1.45, 0.5);
  std::vector<std::string> vocabulary(20'000);
  for (auto& word : vocabulary) {
    const auto letters = static_cast<std::size_t>(std::lround(length(random))) + 1;
    for (std::size_t i = 0; i < letters; ++i) word += static_cast<char>('a' + random() % 26);
  }
  Documents documents(4'000);
  for (auto& document : documents) {
    for (int i = 0; i < 200; ++i) {
      // The square of a uniform number favours the front of the list, as frequent words do.
      const double uniform = static_cast<double>(random() >> 11) * 0x1p-53;
      document += vocabulary[static_cast<std::size_t>(uniform * uniform * 20'000)];
      document += i % 17 == 16 ? ". " : " ";
    }
  }
  return documents;
}

const Documents& prose() {
  static const Documents documents = [] {
    const char* const path = std::getenv("KIN_BENCH_PROSE");
    if (path == nullptr) return made_up_prose();
    Documents lines;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    KIN_CHECK(!lines.empty(), "KIN_BENCH_PROSE names a file with documents");
    return lines;
  }();
  return documents;
}

Documents changed_prose(const std::function<std::string(const std::string&)>& change) {
  Documents documents;
  for (const std::string& document : prose()) documents.push_back(change(document));
  return documents;
}

const Documents& ascii() {
  static const Documents documents = changed_prose([](std::string text) {
    for (char& byte : text) byte = static_cast<signed char>(byte) < 0 ? 'x' : byte;
    return text;
  });
  return documents;
}

// A curly quote in each sentence of text that is ASCII otherwise.
const Documents& curly() {
  static const Documents documents = [] {
    Documents out = ascii();
    for (std::string& text : out) {
      std::string quoted;
      for (const char byte : text) {
        quoted += byte;
        if (byte == '.') quoted += "\u201D";
      }
      text = quoted;
    }
    return out;
  }();
  return documents;
}

const Documents& chinese() {
  static const Documents documents = [] {
    std::mt19937_64 random(2);
    Documents out(2'000);
    for (std::string& text : out) {
      for (int i = 0; i < 500; ++i) {
        const auto c = static_cast<unsigned>(0x4E00 + random() % 3'000);
        text += static_cast<char>(0xE0 | c >> 12);
        text += static_cast<char>(0x80 | (c >> 6 & 0x3F));
        text += static_cast<char>(0x80 | (c & 0x3F));
        if (i % 12 == 11) text += "\uFF0C";
      }
    }
    return out;
  }();
  return documents;
}

std::size_t bytes_of(const Documents& documents) {
  std::size_t bytes = 0;
  for (const std::string& document : documents) bytes += document.size();
  return bytes;
}

// Runs `use` over every document in turn and reports bytes of text a second.
template <typename Use>
void over(benchmark::State& state, const Documents& documents, const Use& use) {
  for (auto _ : state) {
    for (const std::string& document : documents) use(document);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * bytes_of(documents)));
}

void sign(benchmark::State& state, const Documents& documents, const ShingleOptions& options) {
  Shingler shingler(options);
  const MinHasher hasher;
  std::vector<std::uint32_t> signature(hasher.hashes());
  over(state, documents, [&](const std::string& document) {
    hasher.sign(shingler.shingles(document), signature);
    benchmark::DoNotOptimize(signature.data());
  });
}

void shingle(benchmark::State& state, const Documents& documents, const ShingleOptions& options) {
  Shingler shingler(options);
  over(state, documents, [&](const std::string& document) {
    benchmark::DoNotOptimize(shingler.shingles(document).data());
  });
}

constexpr ShingleOptions kWords{};
constexpr ShingleOptions kCharacters{.unit = ShingleOptions::Unit::kChar};

void sign_ascii(benchmark::State& state) {
  sign(state, ascii(), kWords);
}
void sign_prose(benchmark::State& state) {
  sign(state, prose(), kWords);
}
void sign_curly(benchmark::State& state) {
  sign(state, curly(), kWords);
}
void sign_chinese(benchmark::State& state) {
  sign(state, chinese(), kWords);
}
void sign_characters(benchmark::State& state) {
  sign(state, ascii(), kCharacters);
}
void shingle_ascii(benchmark::State& state) {
  shingle(state, ascii(), kWords);
}
void shingle_curly(benchmark::State& state) {
  shingle(state, curly(), kWords);
}
void shingle_chinese(benchmark::State& state) {
  shingle(state, chinese(), kWords);
}
BENCHMARK(sign_ascii);
BENCHMARK(sign_prose);
BENCHMARK(sign_curly);
BENCHMARK(sign_chinese);
BENCHMARK(sign_characters);
BENCHMARK(shingle_ascii);
BENCHMARK(shingle_curly);
BENCHMARK(shingle_chinese);

void normalize(benchmark::State& state) {
  std::string out;
  over(state, state.range(0) == 0 ? ascii() : curly(), [&](const std::string& document) {
    text::normalize(document, text::Normalization::kStandard, out);
    benchmark::DoNotOptimize(out.data());
  });
}
BENCHMARK(normalize)->ArgName("curly")->Arg(0)->Arg(1);

void validate_utf8(benchmark::State& state) {
  over(state, state.range(0) == 0 ? prose() : chinese(), [](const std::string& document) {
    benchmark::DoNotOptimize(text::is_valid_utf8(document));
  });
}
BENCHMARK(validate_utf8)->ArgName("chinese")->Arg(0)->Arg(1);

void chunk_fixed(benchmark::State& state) {
  over(state, ascii(),
       [](const std::string& document) { benchmark::DoNotOptimize(chunks(document, {}).data()); });
}
BENCHMARK(chunk_fixed);

void chunk_defined(benchmark::State& state) {
  over(state, ascii(), [](const std::string& document) {
    benchmark::DoNotOptimize(
        chunks(document, {.kind = ChunkOptions::Kind::kContentDefined}).data());
  });
}
BENCHMARK(chunk_defined);

std::vector<std::uint64_t> random_hashes(std::size_t size) {
  std::mt19937_64 random(3);
  std::vector<std::uint64_t> hashes(size);
  for (auto& hash : hashes) hash = random();
  return hashes;
}

// Nanoseconds a shingle of the kernel alone.
void kernel(benchmark::State& state) {
  const auto shingles = random_hashes(static_cast<std::size_t>(state.range(0)));
  const MinHasher hasher(static_cast<std::uint32_t>(state.range(1)));
  std::vector<std::uint32_t> signature(hasher.hashes());
  for (auto _ : state) {
    hasher.sign(shingles, signature);
    benchmark::DoNotOptimize(signature.data());
  }
  state.counters["ns/shingle"] =
      benchmark::Counter(static_cast<double>(state.iterations() * shingles.size()) * 1e-9,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(kernel)
    ->ArgNames({"shingles", "hashes"})
    ->Args({60, 128})
    ->Args({500, 128})
    ->Args({2000, 128})
    ->Args({500, 256});

void band_keys_21x6(benchmark::State& state) {
  const MinHasher hasher;
  std::vector<std::uint32_t> signature(hasher.hashes());
  hasher.sign(random_hashes(300), signature);
  std::vector<std::uint64_t> keys(21);
  for (auto _ : state) {
    band_keys(signature, {21, 6}, keys);
    benchmark::DoNotOptimize(keys.data());
  }
}
BENCHMARK(band_keys_21x6);

void compact_128(benchmark::State& state) {
  const std::vector<std::uint32_t> signature(128, 12'345);
  std::vector<std::uint8_t> out(128);
  for (auto _ : state) {
    compact(signature, out);
    benchmark::DoNotOptimize(out.data());
  }
}
BENCHMARK(compact_128);

void equal_slots_128(benchmark::State& state) {
  const std::vector<std::uint8_t> a(128, 7);
  const std::vector<std::uint8_t> b(128, 7);
  for (auto _ : state) benchmark::DoNotOptimize(equal_slots(a, b));
}
BENCHMARK(equal_slots_128);

void sort_unique_1000(benchmark::State& state) {
  // More than a branch predictor learns by heart.
  const auto hashes = random_hashes(256'000);
  std::vector<std::uint64_t> list;
  std::size_t at = 0;
  for (auto _ : state) {
    list.assign(hashes.begin() + static_cast<std::ptrdiff_t>(at),
                hashes.begin() + static_cast<std::ptrdiff_t>(at + 1'000));
    sort_unique(list);
    benchmark::DoNotOptimize(list.data());
    at = (at + 1'000) % hashes.size();
  }
}
BENCHMARK(sort_unique_1000);

void exact_jaccard_1000(benchmark::State& state) {
  auto a = random_hashes(1'200);
  std::vector<std::uint64_t> b(a.begin() + 200, a.end());
  a.resize(1'000);
  sort_unique(a);
  sort_unique(b);
  for (auto _ : state) benchmark::DoNotOptimize(exact_jaccard(a, b));
}
BENCHMARK(exact_jaccard_1000);

void simhash_1000(benchmark::State& state) {
  const auto hashes = random_hashes(1'000);
  for (auto _ : state) benchmark::DoNotOptimize(simhash64(hashes));
}
BENCHMARK(simhash_1000);

// KIN_BENCH_TARGET=AVX2 measures that instruction set instead of the best.
[[maybe_unused]] const bool kTargetChosen = [] {
  const char* const wanted = std::getenv("KIN_BENCH_TARGET");
  KIN_CHECK(wanted == nullptr || use_target(wanted), "KIN_BENCH_TARGET is one of this machine");
  return true;
}();

}  // namespace
}  // namespace kin::sketch
