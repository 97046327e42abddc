#include <algorithm>
#include <functional>
#include <numeric>

#include "base/bytes.h"
#include "base/file.h"
#include "bench/dedup/dedup.h"
#include "bench/dedup/prose.h"
#include "bench/measure.h"
#include "data/dataset.h"
#include "sketch/minhash.h"
#include "sketch/shingles.h"

namespace kin::bench {
namespace {

using Texts = std::vector<std::string>;

constexpr std::size_t kTextBytes = 8 << 20;
constexpr std::size_t kDocumentBytes = 1'000;
constexpr std::size_t kMemoryBytes = 256 << 20;

std::size_t bytes_of(const Texts& texts) {
  return std::accumulate(
      texts.begin(), texts.end(), std::size_t{0},
      [](std::size_t sum, const std::string& text) { return sum + text.size(); });
}

// Calls work(), which does `units` units, until `bench.runs` runs have taken their time.
Speeds measure(const SketchBench& bench, double units, const std::function<void()>& work) {
  work();  // warms caches and clock speed
  std::vector<double> speeds;
  for (int run = 0; run < bench.runs; ++run) {
    const double start = thread_seconds();
    double passes = 0;
    double taken = 0;
    do {
      work();
      ++passes;
      taken = thread_seconds() - start;
    } while (taken < bench.seconds / bench.runs);
    speeds.push_back(passes * units / taken);
  }
  return {.best = *std::max_element(speeds.begin(), speeds.end()), .median = median(speeds)};
}

// Keeps the compiler from removing results that are not used.
template <typename T>
void keep(const T& value) {
  asm volatile("" : : "r,m"(value) : "memory");
}

Speeds sketch_speed(const SketchBench& bench, const Texts& texts) {
  sketch::Shingler shingler({});
  const sketch::MinHasher hasher;
  std::vector<std::uint32_t> signature(hasher.hashes());
  return measure(bench, static_cast<double>(bytes_of(texts)) / 1e6, [&] {
    for (const std::string& text : texts) {
      hasher.sign(shingler.shingles(text), signature);
      keep(signature.data());
    }
  });
}

// Shingles a second of the hashing alone.
Speeds kernel_speed(const SketchBench& bench, const Texts& texts) {
  sketch::Shingler shingler({});
  std::vector<std::vector<std::uint64_t>> all;
  std::size_t count = 0;
  for (const std::string& text : texts) {
    const auto shingles = shingler.shingles(text);
    all.emplace_back(shingles.begin(), shingles.end());
    count += shingles.size();
    if (count > 500'000) break;
  }
  const sketch::MinHasher hasher;
  std::vector<std::uint32_t> signature(hasher.hashes());
  return measure(bench, static_cast<double>(count), [&] {
    for (const auto& shingles : all) {
      hasher.sign(shingles, signature);
      keep(signature.data());
    }
  });
}

Speeds memory_speed(const SketchBench& bench) {
  // Larger than any cache.
  const std::vector<std::uint64_t> words(kMemoryBytes / sizeof(std::uint64_t), 1);
  return measure(bench, static_cast<double>(kMemoryBytes) / 1e6,
                 [&] { keep(std::accumulate(words.begin(), words.end(), std::uint64_t{0})); });
}

Texts made_up_texts() {
  const Prose prose;
  Random random(1);
  Texts texts;
  for (std::size_t bytes = 0; bytes < kTextBytes; bytes += texts.back().size()) {
    texts.emplace_back();
    prose.append(random, kDocumentBytes, texts.back());
  }
  return texts;
}

Texts chinese_texts() {
  Random random(1);
  Texts texts;
  for (std::size_t bytes = 0; bytes < kTextBytes; bytes += texts.back().size())
    texts.push_back(chinese_text(random, kDocumentBytes));
  return texts;
}

}  // namespace

Result<Texts> sample_texts(const std::string& input, const std::string& field,
                           std::uint64_t max_bytes) {
  KIN_TRY(const TemporaryFolder folder, TemporaryFolder::create());
  KIN_TRY(std::vector<data::Input> files,
          data::find_inputs(std::vector<std::string>{input}, folder.path()));
  data::DatasetOptions options;
  options.temporary_folder = folder.path();
  KIN_TRY(const auto dataset, data::Dataset::open(std::move(files), options));
  Texts texts;
  data::SampleOptions sample;
  sample.columns = {field};
  sample.max_bytes = max_bytes;
  sample.visitor = [&](const data::Batch& batch, int) -> Status {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      if (const auto text = batch.value(0, i)) texts.emplace_back(*text);
    }
    return Done{};
  };
  KIN_RETURN_IF_ERROR(dataset->sample(sample));
  if (bytes_of(texts) == 0)
    return Error{Code::kInvalidArgument, "there is no text in " + input + " (use --field)"};
  return texts;
}

Result<SketchFigures> bench_sketch(const SketchBench& bench) {
  Texts texts;
  if (bench.input) {
    KIN_TRY(texts, sample_texts(*bench.input, bench.field, kTextBytes));
  } else {
    texts = made_up_texts();
  }
  Texts curly;
  for (const std::string& text : texts) curly.push_back(with_curly_quotes(text));

  SketchFigures figures;
  figures.texts = bench.input.value_or("generated English prose");
  figures.text_bytes = bytes_of(texts);
  figures.documents = texts.size();
  figures.runs = bench.runs;
  figures.plain = sketch_speed(bench, texts);
  figures.with_curly_quotes = sketch_speed(bench, curly);
  figures.chinese = sketch_speed(bench, chinese_texts());
  figures.kernel = kernel_speed(bench, texts);
  figures.memory = memory_speed(bench);
  return figures;
}

}  // namespace kin::bench
