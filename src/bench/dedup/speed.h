// The speed table of docs/benchmarks.md: deduplication against copying, cuts against MinHash.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/dedup/figures.h"

namespace kin::bench {

struct SpeedBench {
  std::vector<std::string> formats{"parquet", "jsonl"};
  double scale = 1;  // of the numbers of records, for a quick look
  std::optional<std::filesystem::path> folder;
  int threads = 0;  // 0: one for each core
  int rounds = 5;
};

struct SpeedFigures {
  // Runs of `kindred dedup` and of its peer, on the same input and in turns.
  struct Row {
    std::string name;  // of our run
    std::string peer_name;
    BenchInput input;
    Runs own;
    Runs peer;
    double must = 0;  // the highest ratio that is allowed
    double aim = 0;
  };
  std::vector<Row> rows;
  int rounds = 0;
};

// Runs 300,000 records of 1 KB with 10 % duplicates and 700,000 with 20 %, in each format: DuckDB's
// COPY and `kindred dedup` in turns. Then, on 300,000 records whose sentences are lines,
// `--by lines` and two lengths of `--by substring` in turns with the default detectors.
Result<SpeedFigures> bench_speed(const SpeedBench& bench);

std::string to_json(const SpeedFigures& figures);
std::string to_table(const SpeedFigures& figures);

}  // namespace kin::bench
