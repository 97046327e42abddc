// Benchmarks of sketching and deduplication.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/dedup/corpus.h"
#include "bench/dedup/figures.h"

namespace kin::bench {

struct SketchBench {
  std::optional<std::string> input;  // a dataset; none: generated prose
  std::string field = "text";
  int runs = 9;
  double seconds = 3;  // per measurement, for all its runs together
};
// Measures text to word-5 shingles to 128 hashes on one core, and reading the same bytes.
Result<SketchFigures> bench_sketch(const SketchBench& bench);

struct DedupBench {
  CorpusOptions corpus;
  std::optional<std::string> sentences;  // a dataset whose sentences make the corpus
  std::string field = "text";
  std::string format = "parquet";
  std::optional<std::filesystem::path> folder;
  std::optional<std::string> max_memory;
  int threads = 0;
  int rounds = 3;
};
// Runs `kindred dedup` and DuckDB's copy of the same file in turns, each in a process of its own.
Result<DedupFigures> bench_dedup(const DedupBench& bench);

// Runs `kindred dedup` with several memory limits on one corpus ("default" sets none), and compares
// the outputs.
Result<MemoryFigures> bench_memory(const DedupBench& bench,
                                   const std::vector<std::string>& budgets);

// The first texts of a dataset, up to `max_bytes` in all.
Result<std::vector<std::string>> sample_texts(const std::string& input, const std::string& field,
                                              std::uint64_t max_bytes);

}  // namespace kin::bench
