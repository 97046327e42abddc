// Benchmark of grouping headlines: quality and speed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/stories/sets.h"
#include "stories/agreement.h"
#include "stories/grouper.h"

namespace kin::bench {

struct StoriesBench {
  std::string input = "../shared/data/news";  // a folder of sets, or one file of headlines
  std::string label = "story";                // column of a file
  std::string meaning = "words";              // the word vectors, as `kindred stories group` takes
  int runs = 5;
  std::uint64_t many = 100'000;  // headlines of the measurement with many stories
  bool tune = false;
};

// How well one set was grouped.
struct SetFigures {
  std::string name;
  std::string family;
  stories::AgreementFigures agreement;
  double largest = 0;  // size of the largest story, divided by that of the largest true one
};

struct StoriesFigures {
  std::vector<std::string> missing;  // files of the folder that are not there
  bool has_meaning = false;
  std::vector<SetFigures> sets;
  // Four headlines about one event and four about others of the same kind, among 500 of a set.
  int model_trials = 0;
  int model_together = 0;   // trials with the four in one story
  int model_strangers = 0;  // other headlines in that story, over all trials
  // Processor time per headline, one core, median of the runs.
  double microseconds = 0;
  // The same among `many` headlines of exchanged words in three days; the quality for the set's own
  // headlines among them; the memory of the grouper divided by the open stories.
  std::uint64_t many = 0;
  double many_microseconds = 0;
  stories::AgreementFigures many_agreement;
  double story_bytes = 0;
  // With `tune`: the settings that are best without each family, and their result on it.
  struct Choice {
    std::string without;  // empty: the best on all sets
    std::string settings;
    double mean_score = 0;  // F0.8, over the families that were used
    std::vector<SetFigures> sets;
  };
  std::vector<Choice> choices;
};

Result<StoriesFigures> bench_stories(const StoriesBench& bench);

// Groups a set and compares it with the labels.
Result<SetFigures> measure_set(const LabelledSet& set, const stories::Settings& settings,
                               const stories::Grouper::Model& model);

std::string to_json(const StoriesFigures& figures);
std::string to_table(const StoriesFigures& figures);

}  // namespace kin::bench
