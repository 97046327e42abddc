// Strict readers for query parameters.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "server/http/message.h"

namespace kin::server {

// Errors are kInvalidArgument and name the parameter. All functions are thread-safe.

// A whole number from 1 to `most`.
Result<std::uint64_t> number_in(const Parameter& parameter, std::uint64_t most);
// Any finite number.
Result<double> decimal_in(const Parameter& parameter);
// "1" or "true", "0" or "false".
Result<bool> truth_in(const Parameter& parameter);

}  // namespace kin::server
