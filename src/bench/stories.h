// How well and how fast headlines are grouped: the figures of docs/benchmarks.md.
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
  std::string half = "second";  // by time: settings are tuned on the first
  int runs = 5;
};

struct StoriesFigures {
  struct Sample {
    std::uint64_t every = 1;            // of the headlines, one in so many is kept
    stories::AgreementFigures first{};  // of the sample that begins with the first headline
    stories::Agreement mean{};          // of precision and recall over all samples
    double mean_f1 = 0;
  };
  std::string half;
  std::vector<Sample> samples;
  // All headlines in a random order, times kept in order: what the order of the file is worth.
  stories::AgreementFigures shuffled;
  // Four headlines about one event and four about others of the same kind, among 500 of the file.
  int model_trials = 0;
  int model_together = 0;        // trials with the four in one story
  int model_strangers = 0;       // of the others that were in that story, over all trials
  double microseconds = 0;       // a headline, one core, median of the runs
  double open_microseconds = 0;  // the same with 100,000 headlines of many open stories
};

// Titles alone: neither address nor summary nor source is used.
Result<StoriesFigures> bench_stories(const StoriesBench& bench);

std::string to_json(const StoriesFigures& figures);
std::string to_table(const StoriesFigures& figures);

}  // namespace kin::bench
