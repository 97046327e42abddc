// Values of parameters, read strictly.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "server/http/message.h"

namespace kin::server {

// kInvalidArgument names the parameter. All are thread-safe.

// A whole number from 1 to `most`.
Result<std::uint64_t> number_in(const Parameter& parameter, std::uint64_t most);
// Any number that is finite.
Result<double> decimal_in(const Parameter& parameter);
// 1 or true, 0 or false.
Result<bool> truth_in(const Parameter& parameter);

}  // namespace kin::server
