// A simple, slow implementation of normalize.h and words.h on ICU. Tests and fuzzers compare the
// fast paths with it. Thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/normalize.h"

namespace kin::text {

std::string normalize_reference(std::string_view utf8, Normalization preset);

// The words of the normalised form of `utf8`.
std::vector<std::string> words_reference(std::string_view utf8, Normalization preset);

}  // namespace kin::text
