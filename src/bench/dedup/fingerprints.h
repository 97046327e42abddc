// Documents per second that a local fingerprint store and its ledger ingest.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/dedup/corpus.h"

namespace kin::bench {

struct FingerprintsBench {
  CorpusOptions corpus = {.records = 200'000, .duplicates = 0.1};  // of each round
  int rounds = 3;
  std::optional<std::filesystem::path> folder;
  int threads = 0;  // 0: one for each core
};

// All rounds go into the same store, which grows.
struct FingerprintsFigures {
  struct Round {
    std::uint64_t documents = 0;  // in the store afterwards
    std::uint64_t records = 0;    // of the round
    double seconds = 0;
    double cpu_seconds = 0;
    std::uint64_t store_bytes = 0;
  };
  std::vector<Round> rounds;
};

// Makes a corpus for each round and ingests it into the store: looked up, compared, admitted,
// recorded, and written. Everything is durable at the end of a round.
Result<FingerprintsFigures> bench_fingerprints(const FingerprintsBench& bench);

std::string to_json(const FingerprintsFigures& figures);
std::string to_table(const FingerprintsFigures& figures);

}  // namespace kin::bench
