// Shows on some of the records what a run would remove.
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
  // A record, as a person finds it again.
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
  // The least alike first, then others up to identical ones; texts as alike as their neighbours are
  // left out.
  std::vector<Example> examples;
  DedupOptions options;

  double share() const {
    return sampled == 0 ? 0 : static_cast<double>(removed) / static_cast<double>(sampled);
  }
};

// Reads some records and deduplicates them as the job says, in a temporary folder. Nothing stays of
// it. Which records: of Parquet one at random out of each of so many equal parts of the rows; of
// text files, whose rows are not known, pieces from all parts of the files, and of compressed and
// CSV files their beginnings, out of which so many records are drawn. The same inputs, number and
// seed give the same records.
Result<SampleReport> run_sample(const DedupJob& job, const SampleOptions& how, Progress& progress,
                                Clock& clock);

}  // namespace kin::dedup
