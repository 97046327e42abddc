// Measures how well a run finds near-duplicates that were planted in a sample of the user's data.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "dedup/options.h"
#include "dedup/run.h"
#include "dedup/trial/planting.h"

namespace kin::dedup {

struct EvaluateOptions {
  DedupOptions dedup;
  std::uint64_t pairs = 2'000;
  std::uint64_t seed = 1;
  std::uint64_t sample_bytes = 32 << 20;
};

// Similarities here are exact, and computed apart from the run, with the slow reference shingler.
struct Evaluation {
  // Planted pairs, and removed records with the record that stayed, by their similarity.
  struct Bucket {
    double low = 0;
    double high = 0;  // included in the last bucket only
    std::uint64_t planted = 0;
    std::uint64_t due = 0;      // planted at or above the threshold
    std::uint64_t found = 0;    // due pairs that were found
    double expected = 0;        // due pairs that the banding should find
    std::uint64_t not_due = 0;  // found below the threshold
    std::uint64_t removed = 0;  // records, planted or not
    std::uint64_t below = 0;    // removed records below the threshold
  };
  struct ByEdit {
    Edit edit;
    std::uint64_t planted = 0;
    std::uint64_t due = 0;
    std::uint64_t found = 0;
  };

  // A planted pair at or above the threshold.
  struct Due {
    double similarity = 0;
    bool found = false;
  };

  std::uint64_t records = 0;  // of the sample
  std::uint64_t planted = 0;
  // Pairs of which one record was removed as a duplicate of a third record, and the other was not,
  // because the sample has duplicates of its own. They are not counted elsewhere.
  std::uint64_t elsewhere = 0;
  std::vector<Due> due;
  std::vector<Bucket> buckets;
  std::vector<ByEdit> edits;
  std::array<std::uint64_t, 4> removed_by{};  // by Method
  std::array<std::uint64_t, 4> below_by{};    // below the threshold
  double threshold = 0;
  double seconds = 0;  // of the run
  std::vector<std::string> notes;

  // The share that was found of the planted pairs that are due and have a similarity of at least
  // `from`, allowing for the rounding of a sum of decimal fractions; 1 without any.
  double recall(double from = 0) const;
  // The share of removed records that reach the threshold; 1 without any.
  double precision() const;
  std::uint64_t removed() const;
  std::uint64_t below_threshold() const;
};

// Takes a sample of the inputs, plants changed copies of some records, runs the pipeline over both,
// and compares the removals with the expected ones. The same inputs and options give the same
// figures. A pair counts as found if one was removed as a duplicate of the other, or both as
// duplicates of the same third record.
Result<Evaluation> evaluate(const std::vector<std::string>& inputs, const EvaluateOptions& options,
                            Progress& progress, Clock& clock);

}  // namespace kin::dedup
