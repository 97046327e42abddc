// The labelled sets of headlines that grouping is measured on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "stories/item.h"

namespace kin::bench {

struct LabelledSet {
  std::string name;
  // Sets of one family share headlines or their kind. Settings for a family are chosen without it.
  std::string family;
  std::vector<stories::Item> items;  // in order of time
  std::vector<std::uint64_t> labels;
  std::size_t measured_from = 0;  // earlier headlines are grouped, but not compared

  void add(const stories::Item& item, std::uint64_t label);
};

// A set of headlines from a file, in order of time.
Result<LabelledSet> read_set(const std::filesystem::path& file, const std::string& label);

// The first or second half of a set by time.
LabelledSet half_of(const LabelledSet& set, bool second);

// Every `every`-th headline, beginning with number `offset`.
LabelledSet sample_of(const LabelledSet& set, std::size_t every, std::size_t offset);

// All headlines in random order, at the times of the set.
LabelledSet shuffled(const LabelledSet& set, std::uint64_t seed);

// The sets of a folder: the halves of headlines.jsonl, the languages of olympics.jsonl (for English
// also the halves), lookalikes.jsonl, and all of them interleaved. Missing files are left out, and
// named in `missing`.
struct SetsFolder {
  std::vector<LabelledSet> sets;
  std::vector<std::string> missing;

  const LabelledSet* find(const std::string& name) const;
};
Result<SetsFolder> read_sets(const std::filesystem::path& folder);

}  // namespace kin::bench
