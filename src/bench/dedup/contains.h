// The time in which records are searched for the references that they contain.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace kin::bench {

struct ContainsBench {
  std::uint64_t records = 200;
  std::uint64_t references = 200;
  std::uint64_t bytes = 500'000;  // of a record
  std::uint64_t reference_bytes = 500'000;
  // Records and references are pieces of one text of this many bytes, so the shorter it is, the
  // more runs of words they share.
  std::uint64_t stock_bytes = 500'000;
  double share = 0.8;  // --contains
  std::uint64_t seed = 1;
};

struct ContainsFigures {
  std::uint64_t records = 0;
  std::uint64_t references = 0;
  std::uint64_t bytes = 0;
  std::uint64_t reference_bytes = 0;
  // Processor time on one thread.
  double index_seconds = 0;
  double search_seconds = 0;
  std::uint64_t contained = 0;     // records that contain a reference
  std::uint64_t found_digest = 0;  // of the references found, their shares and passages
};

Result<ContainsFigures> bench_contains(const ContainsBench& bench);

std::string to_json(const ContainsFigures& figures);
std::string to_table(const ContainsFigures& figures);

}  // namespace kin::bench
