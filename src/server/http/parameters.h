// Strict readers for query parameters and JSON bodies.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "data/json_value.h"
#include "server/http/message.h"

namespace kin::server {

// Errors are kInvalidArgument and name the parameter. All functions are thread-safe.

// A whole number from 1 to `most`.
Result<std::uint64_t> number_in(const Parameter& parameter, std::uint64_t most);
// Any finite number.
Result<double> decimal_in(const Parameter& parameter);
// "1" or "true", "0" or "false".
Result<bool> truth_in(const Parameter& parameter);

// The object in the body of a request, for data::JsonFields. An empty body is an object without
// fields. Thread-safe.
Result<data::JsonValue> parse_json_body(const Request& request);

}  // namespace kin::server
