// A simple, slow Shingler. Tests and fuzzers compare the fast path with it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sketch/shingles.h"

namespace kin::sketch {

// The same result as Shingler::shingles. Thread-safe.
std::vector<std::uint64_t> shingles_reference(std::string_view valid_utf8,
                                              const ShingleOptions& options);

}  // namespace kin::sketch
