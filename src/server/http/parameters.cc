#include "server/http/parameters.h"

#include <fmt/format.h>

#include <cmath>

#include "base/ascii.h"

namespace kin::server {

Result<std::uint64_t> number_in(const Parameter& parameter, std::uint64_t most) {
  const auto number = parse_number<std::uint64_t>(parameter.value);
  if (number && *number >= 1 && *number <= most) return *number;
  return Error{Code::kInvalidArgument,
               fmt::format("parameter \"{}\": \"{}\" is not a whole number from 1 to {}",
                           parameter.name, parameter.value, most)};
}

Result<double> decimal_in(const Parameter& parameter) {
  const auto number = parse_number<double>(parameter.value);
  if (number && std::isfinite(*number)) return *number;
  return Error{Code::kInvalidArgument, fmt::format("parameter \"{}\": \"{}\" is not a number",
                                                   parameter.name, parameter.value)};
}

Result<bool> truth_in(const Parameter& parameter) {
  if (parameter.value == "1" || parameter.value == "true") return true;
  if (parameter.value == "0" || parameter.value == "false") return false;
  return Error{Code::kInvalidArgument, fmt::format("parameter \"{}\": \"{}\" is not 1 or 0",
                                                   parameter.name, parameter.value)};
}

Result<data::JsonValue> parse_json_body(const Request& request) {
  // Requests that need no field may leave the body out.
  if (request.body.empty()) return data::JsonValue(data::JsonValue::Object{});
  auto value = data::parse_json(request.body);
  if (!value)
    return Error{Code::kInvalidArgument, "the body is not JSON: " + value.error().message};
  if (value->object() == nullptr)
    return Error{Code::kInvalidArgument, "the body is not a JSON object"};
  return value;
}

}  // namespace kin::server
