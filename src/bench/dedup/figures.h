// Figures of sketching and deduplication, as JSON and as tables.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/dedup/corpus.h"

namespace kin::bench {

struct Speeds {
  double best = 0;  // units per second
  double median = 0;
};

struct SketchFigures {
  std::string texts;  // their origin
  std::uint64_t text_bytes = 0;
  std::uint64_t documents = 0;
  int runs = 0;
  Speeds plain;  // MB per second, as in the next two
  Speeds with_curly_quotes;
  Speeds chinese;
  Speeds kernel;  // shingles per second
  Speeds memory;  // MB per second
};

// Runs of one command, each in a process of its own.
struct Runs {
  std::vector<double> seconds;
  std::vector<double> cpu_seconds;
  std::uint64_t peak_bytes = 0;
};

// The input of a run and its number of threads.
struct BenchInput {
  CorpusOptions corpus;
  std::string texts;  // their origin
  std::string format;
  std::uint64_t file_bytes = 0;
  int threads = 0;
};

struct DedupFigures {
  BenchInput input;
  Runs copy;
  Runs dedup;
  std::string report;  // JSON report of the last run
};

struct MemoryFigures {
  struct Budget {
    std::string max_memory;
    Runs runs;
    std::uint64_t output_hash = 0;
    std::string report;  // JSON report of the last run
  };
  BenchInput input;
  std::vector<Budget> budgets;
  bool same_output = true;
};

std::string to_json(const SketchFigures& figures);
std::string to_json(const DedupFigures& figures);
std::string to_json(const MemoryFigures& figures);

std::string to_table(const SketchFigures& figures);
std::string to_table(const DedupFigures& figures);
std::string to_table(const MemoryFigures& figures);

}  // namespace kin::bench
