// The seen set against RocksDB at the same job.
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
  std::uint64_t ids = 20'000'000;  // different ones, which the set holds in the end
  double repeats = 0.2;            // share of the ids handed over that were handed over before
  std::uint64_t commit_every = 8'192;
  std::optional<std::string> max_memory;
  std::uint64_t lookups = 5'000'000;  // of each kind, in five rounds
  bool peer = true;
  std::uint64_t peer_ids = 0;  // 0: as many
  std::uint64_t seed = 1;
  std::optional<std::filesystem::path> folder;
  std::optional<std::uint64_t> check;  // operations, for check_seen()
};

// What one of them needed. The clock runs while it works, not while ids are made up or answers
// checked.
struct SeenEngineFigures {
  std::uint64_t ids = 0;
  std::uint64_t operations = 0;  // check-and-insert
  double insert_seconds = 0;
  double settle_seconds = 0;  // to write out and merge what was left to do
  // Nanoseconds a look-up: absent as the inserts left it, the rest when it has settled.
  double absent_at_once = 0;
  double absent = 0;
  double absent_in_batches = 0;
  double present = 0;
  double present_in_batches = 0;
  std::uint64_t memory_bytes = 0;     // at most, as it counts them itself
  std::uint64_t resident_growth = 0;  // of the process, at most
  std::uint64_t disk_bytes = 0;       // when it has settled
  std::uint64_t written_bytes = 0;    // to all files, until it has settled
  std::uint64_t wrong = 0;            // answers
  double operations_per_second() const { return static_cast<double>(operations) / insert_seconds; }
};

struct SeenFigures {
  double repeats = 0;
  std::uint64_t commit_every = 0;
  SeenEngineFigures seen;
  std::uint64_t filter_bytes = 0;  // of the seen set
  // The limit of an absent look-up: reading a word of as much memory, anywhere, each after the
  // last.
  double memory_read = 0;  // ns
  std::optional<SeenEngineFigures> peer;
  std::string peer_settings;
};

// Both get the same ids in the same order on one thread, and every batch is durable before the
// next. kCancelled once `stop` is set.
Result<SeenFigures> bench_seen(const SeenBench& bench, const std::atomic<bool>& stop);

struct SeenCheckReport {
  store::SeenCheckFigures figures;
  double seconds = 0;
};

// `bench.check` operations of a seen set in a temporary folder, held against a model; an error at
// the first wrong answer. kCancelled once `stop` is set.
Result<SeenCheckReport> check_seen(const SeenBench& bench, const std::atomic<bool>& stop);

std::string to_json(const SeenCheckReport& report);
std::string to_table(const SeenCheckReport& report);

std::string to_json(const SeenFigures& figures);
std::string to_table(const SeenFigures& figures);

}  // namespace kin::bench
