// Benchmark of grouping headlines: quality and speed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "stories/agreement.h"
#include "stories/settings.h"

namespace kin::bench {

struct StoriesBench {
  std::string input;  // headlines with their true stories
  std::string label = "story";
  std::string half = "second";  // by time; the settings were tuned on the first half
  int runs = 5;
};

struct StoriesFigures {
  struct Sample {
    std::uint64_t every = 1;            // one in `every` headlines is kept
    stories::AgreementFigures first{};  // the sample that begins with the first headline
    stories::Agreement mean{};          // precision and recall, over all samples
    double mean_f1 = 0;
  };
  std::string half;
  std::vector<Sample> samples;
  // All headlines in random order, with times in order: the influence of the order of the file.
  stories::AgreementFigures shuffled;
  // Four headlines about one event and four about others of the same kind, among 500 of the file.
  int model_trials = 0;
  int model_together = 0;        // trials with the four in one story
  int model_strangers = 0;       // other headlines in that story, over all trials
  double microseconds = 0;       // per headline, one core, median of the runs
  double open_microseconds = 0;  // the same with 100,000 headlines of many open stories
};

// Uses titles and times only, not address, summary or source.
Result<StoriesFigures> bench_stories(const StoriesBench& bench);

std::string to_json(const StoriesFigures& figures);
std::string to_table(const StoriesFigures& figures);

}  // namespace kin::bench
