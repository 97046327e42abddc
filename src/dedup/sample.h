// Shows what a run would remove from a sample of the records.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "dedup/options.h"
#include "dedup/progress.h"
#include "dedup/run.h"
#include "dedup/trial/passages.h"

namespace kin::dedup {

struct SampleOptions {
  std::uint64_t records = 1'000;
  std::uint64_t seed = 1;
  std::size_t examples = 8;
};

struct SampleReport {
  // A record, as a person can find it.
  struct Place {
    std::string file;
    std::optional<std::string> id;
  };
  struct Example {
    Place kept;
    Place removed;
    Method method = Method::kExact;
    double similarity = 0;
    std::vector<Passage> passages;  // A is the record that stays
  };
  std::uint64_t sampled = 0;
  std::uint64_t total = 0;  // of the inputs; an estimate unless total_exact
  bool total_exact = false;
  std::uint64_t seed = 0;
  std::uint64_t removed = 0;
  std::array<std::uint64_t, kMethods> removed_by{};
  // The least alike first, then others up to identical ones; pairs as alike as their neighbours are
  // left out.
  std::vector<Example> examples;
  DedupOptions options;

  double share() const {
    return sampled == 0 ? 0 : static_cast<double>(removed) / static_cast<double>(sampled);
  }
};

// Reads some records and deduplicates them as the job says, in a temporary folder, which is
// removed. From Parquet one random row is taken from each of `records` equal parts of the rows;
// from text files, whose rows are not known, records are drawn from pieces of all parts of the
// files, and from compressed and CSV files from their beginnings. The same inputs, number and seed
// give the same records.
Result<SampleReport> run_sample(const DedupJob& job, const SampleOptions& how, Progress& progress,
                                Clock& clock);

}  // namespace kin::dedup
