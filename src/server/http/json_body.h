// The JSON object in the body of a request.
#pragma once

#include <string_view>

#include "base/result.h"
#include "data/json_value.h"

namespace kin::server {

// An empty body is an object without fields. kInvalidArgument if the body is not a JSON object.
// Thread-safe.
Result<data::JsonValue> json_object_in(std::string_view body);

}  // namespace kin::server
