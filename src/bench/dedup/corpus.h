// A generated corpus with a known share of duplicates.
#pragma once

#include <cstdint>
#include <filesystem>

#include "base/result.h"
#include "bench/dedup/prose.h"

namespace kin::bench {

struct CorpusOptions {
  std::uint64_t records = 700'000;
  std::uint64_t bytes = 1'000;  // average size of a text; texts have 0.5 to 1.5 times as many
  double duplicates = 0.2;      // share of the records; half are exact, half have changed words
  std::uint64_t seed = 1;
  bool lines = false;  // each sentence is a line of its own
  // Words of the one template that all records are made of; 0: prose, with `bytes`.
  std::uint64_t template_words = 0;
  std::uint64_t varying_words = 12;  // of the template, spread evenly: a number of each record
};

// Writes JSONL with the fields id and text. A text is a function of the options and the record's
// number, so any earlier record can be duplicated without keeping it in memory.
Status write_corpus(const CorpusOptions& options, const Prose& prose,
                    const std::filesystem::path& path);

}  // namespace kin::bench
