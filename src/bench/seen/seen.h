// Benchmark of the seen set against RocksDB.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/result.h"
#include "store/testing/seen_check.h"

namespace kin::bench {

struct SeenBench {
  std::uint64_t ids = 20'000'000;  // distinct ids in the set at the end
  double repeats = 0.2;            // share of the inserted ids that are not new
  std::uint64_t commit_every = 8'192;
  std::optional<std::string> max_memory;
  std::uint64_t lookups = 5'000'000;  // of each kind, in five rounds
  bool peer = true;
  std::uint64_t peer_ids = 0;  // 0: as many as `ids`
  std::uint64_t seed = 1;
  std::optional<std::filesystem::path> folder;
  std::optional<std::uint64_t> check;  // number of operations for check_seen()
};

// Figures of one engine. Time to generate ids and to check answers is not counted.
struct SeenEngineFigures {
  std::uint64_t ids = 0;
  std::uint64_t operations = 0;  // check-and-insert
  double insert_seconds = 0;
  double compact_seconds = 0;  // to finish flushes and merges after the last insert
  // Nanoseconds per look-up. `absent_at_once` is before flushes and merges finish, the rest after.
  double absent_at_once = 0;
  double absent = 0;
  double absent_in_batches = 0;
  double present = 0;
  double present_in_batches = 0;
  std::uint64_t memory_bytes = 0;     // maximum, as counted by the engine
  std::uint64_t resident_growth = 0;  // maximum, of the process
  std::uint64_t disk_bytes = 0;       // after flushes and merges
  std::uint64_t written_bytes = 0;    // to all files
  std::uint64_t wrong = 0;            // wrong answers
  double operations_per_second() const { return static_cast<double>(operations) / insert_seconds; }
};

struct SeenFigures {
  double repeats = 0;
  std::uint64_t commit_every = 0;
  SeenEngineFigures seen;
  std::uint64_t filter_bytes = 0;  // of the seen set
  // The lower bound of an absent look-up: one random read, dependent on the last, of as much memory
  // as the filters take.
  double memory_read = 0;  // ns
  std::optional<SeenEngineFigures> peer;
  std::string peer_settings;
};

// Both engines get the same ids in the same order on one thread; each batch is durable before the
// next begins. kCancelled once `stop` is set.
Result<SeenFigures> bench_seen(const SeenBench& bench, const std::atomic<bool>& stop);

struct SeenCheckReport {
  store::SeenCheckFigures figures;
  double seconds = 0;
};

// Runs `bench.check` operations on a seen set in a temporary folder and compares each answer with a
// model; fails at the first wrong answer. kCancelled once `stop` is set.
Result<SeenCheckReport> check_seen(const SeenBench& bench, const std::atomic<bool>& stop);

std::string to_json(const SeenCheckReport& report);
std::string to_table(const SeenCheckReport& report);

std::string to_json(const SeenFigures& figures);
std::string to_table(const SeenFigures& figures);

}  // namespace kin::bench
