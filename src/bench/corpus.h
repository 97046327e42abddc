// A corpus to deduplicate, made up, with a known share of duplicates.
#pragma once

#include <cstdint>
#include <filesystem>

#include "base/result.h"
#include "bench/prose.h"

namespace kin::bench {

struct CorpusOptions {
  std::uint64_t records = 700'000;
  std::uint64_t bytes = 1'000;  // of a text, on average; from half to one and a half times as many
  double duplicates = 0.2;      // share of the records: half of them exact, half with words changed
  std::uint64_t seed = 1;
};

// Writes JSONL with the fields id and text. A record's text depends on nothing but the options and
// its number, so a duplicate may be of any record before it, however far.
Status write_corpus(const CorpusOptions& options, const Prose& prose,
                    const std::filesystem::path& path);

}  // namespace kin::bench
