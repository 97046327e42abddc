// The benchmarks behind `kindred bench`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/corpus.h"
#include "bench/figures.h"

namespace kin::bench {

struct SketchBench {
  std::optional<std::string> input;  // a dataset; nothing: made-up prose
  std::string field = "text";
  int runs = 9;
  double seconds = 3;  // of all runs of one measurement together
};
// Text to word-5 shingles to 128 hashes on one core, and the limit that memory sets.
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
// `kindred dedup` against DuckDB's own copy of the same file, in turns, each in its own process.
Result<DedupFigures> bench_dedup(const DedupBench& bench);

// `kindred dedup` with several budgets of memory on one corpus ("default": none given), and whether
// the outputs are the same.
Result<MemoryFigures> bench_memory(const DedupBench& bench,
                                   const std::vector<std::string>& budgets);

// The texts of up to `max_bytes` of a dataset.
Result<std::vector<std::string>> sample_texts(const std::string& input, const std::string& field,
                                              std::uint64_t max_bytes);

}  // namespace kin::bench
