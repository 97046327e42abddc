// The meaning of normalize.h and words.h, written as plainly as ICU allows and without regard to
// speed. Tests and fuzzers hold the fast paths to it. Thread-safe.
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
