// What a server answers to a request for embeddings.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kin::embed::internal {

// The `count` vectors of an answer, in the order of its indexes, each of length 1 and all of one
// dimension: `dimension`, unless that is 0. kDataLoss for anything else. Thread-safe.
Result<std::vector<std::vector<float>>> parse_embeddings(std::string_view body, std::size_t count,
                                                         std::size_t dimension);

// What a body says of an error; empty if it says nothing we understand. Thread-safe.
std::string error_in(std::string_view body);

}  // namespace kin::embed::internal
