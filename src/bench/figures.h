// What the benchmarks measured, for people and for programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/corpus.h"

namespace kin::bench {

// The middle one of some values; the mean of the two middle ones of an even number; 0 of none.
double median(std::vector<double> values);

struct Speeds {
  double best = 0;  // units a second
  double median = 0;
};

// On one core.
struct SketchFigures {
  std::string texts;  // where they are from
  std::uint64_t text_bytes = 0;
  std::uint64_t documents = 0;
  int runs = 0;
  Speeds plain;  // MB a second, as are the next two
  Speeds with_curly_quotes;
  Speeds chinese;
  Speeds kernel;  // shingles a second
  Speeds memory;  // MB a second
};

// Runs of one command in processes of their own.
struct Runs {
  std::vector<double> seconds;
  std::vector<double> cpu_seconds;
  std::uint64_t peak_bytes = 0;
};

// What was deduplicated, and by how many threads.
struct BenchInput {
  CorpusOptions corpus;
  std::string texts;  // where they are from
  std::string format;
  std::uint64_t file_bytes = 0;
  int threads = 0;
};

struct DedupFigures {
  BenchInput input;
  Runs copy;
  Runs dedup;
  std::string report;  // of the last run, as JSON
};

struct MemoryFigures {
  struct Budget {
    std::string max_memory;
    Runs runs;
    std::uint64_t output_hash = 0;
    std::string report;  // of the last run, as JSON
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
