// The response of OpenAI's embeddings API.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kin::embed::internal {

// The `count` vectors of a response in the order of its indexes, normalised to length 1. All must
// have the same dimension, and `dimension` unless that is 0. Else kDataLoss. Thread-safe.
Result<std::vector<std::vector<float>>> parse_embeddings(std::string_view body, std::size_t count,
                                                         std::size_t dimension);

// The error message in a body; empty if there is none. Thread-safe.
std::string error_in(std::string_view body);

}  // namespace kin::embed::internal
