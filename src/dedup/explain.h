// Explains why two texts are duplicates of each other, or why not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dedup/options.h"
#include "dedup/trial/passages.h"
#include "sketch/banding.h"

namespace kin::dedup {

struct Explanation {
  bool blank = false;       // one of the texts is only white space: it is never compared
  bool identical = false;   // byte for byte
  bool same_words = false;  // the same shingles in the same order: no difference that counts
  bool same_normalized = false;

  double similarity = 0;              // exact Jaccard of the shingles
  double estimate = 0;                // from the signatures that a run keeps
  double deviation = 0;               // one standard deviation of such an estimate
  std::uint64_t shared_shingles = 0;  // distinct ones, as are the next two
  std::uint64_t only_a_shingles = 0;
  std::uint64_t only_b_shingles = 0;

  sketch::Banding banding{};                  // none without MinHash
  std::vector<std::uint32_t> matching_bands;  // from 0
  double candidate_probability = 0;           // of a pair of this similarity

  int simhash_distance = 64;  // differing bits of 64; 64 if a text has no words
  std::uint64_t chunks_a = 0;
  std::uint64_t chunks_b = 0;
  std::uint64_t shared_chunks = 0;

  // The first requested detector that would find the pair; nothing if none would.
  std::optional<Method> found_by;
  std::string verdict;  // in plain words

  std::vector<Passage> passages;
};

// Compares two valid UTF-8 texts as a run over just these two would.
// Thread-safe.
Result<Explanation> explain(std::string_view a, std::string_view b, const DedupOptions& options);

}  // namespace kin::dedup
