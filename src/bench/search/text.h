// Benchmark of text search: quality, and speed against Xapian.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "index/text_document.h"

namespace kin::bench {

struct TextBench {
  std::vector<std::filesystem::path> collections;  // folders with documents, queries and judgements
  std::optional<std::filesystem::path> articles;   // a folder of Reuters-21578 as JSON
  index::TextOptions options;
  int queries = 1'000;  // over the articles
  int runs = 5;         // of all queries
};

struct QualityFigures {
  std::string collection;
  std::uint64_t documents = 0;
  std::uint64_t queries = 0;
  double ndcg_10 = 0;
  double average_precision = 0;  // mean over the queries, of the first 1,000 hits
  double recall_100 = 0;
};

// Processor time, on one thread.
struct EngineFigures {
  std::string engine;
  double index_seconds = 0;
  std::uint64_t bytes = 0;
  double mean_microseconds = 0;  // per query, median of the runs
  double p99_microseconds = 0;
};

struct TextFigures {
  std::vector<QualityFigures> quality;
  std::uint64_t articles = 0;
  std::uint64_t queries = 0;
  std::vector<EngineFigures> engines;  // ours first
  double agreement = 0;                // share of the peer's top ten that is in ours
};

Result<TextFigures> bench_text(const TextBench& bench);

std::string to_json(const TextFigures& figures);
std::string to_table(const TextFigures& figures);

}  // namespace kin::bench
