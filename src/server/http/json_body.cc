#include "server/http/json_body.h"

#include <cmath>

namespace kin::server {

Result<JsonBody> JsonBody::parse(std::string_view body) {
  if (body.empty()) return JsonBody(data::JsonValue(data::JsonValue::Object{}));
  auto value = data::parse_json(body, {.depth = 8});
  if (!value)
    return Error{Code::kInvalidArgument, "the body is not JSON: " + value.error().message};
  if (value->object() == nullptr)
    return Error{Code::kInvalidArgument, "the body is not a JSON object"};
  return JsonBody(std::move(*value));
}

const data::JsonValue* JsonBody::find(std::string_view name) {
  known_.emplace(name);
  const data::JsonValue* found = nullptr;
  for (const auto& [key, value] : *value_.object()) {
    if (key != name) continue;
    if (found != nullptr) complain(name, "is given twice");
    found = &value;
  }
  return found;
}

void JsonBody::complain(std::string_view name, std::string_view what) {
  if (problem_.empty())
    problem_ = "field \"" + within_ + std::string(name) + "\" " + std::string(what);
}

std::optional<std::string> JsonBody::text(std::string_view name) {
  const data::JsonValue* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (value->string() != nullptr) return *value->string();
  complain(name, "is not a string");
  return std::nullopt;
}

std::optional<bool> JsonBody::boolean(std::string_view name) {
  const data::JsonValue* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (value->boolean() != nullptr) return *value->boolean();
  complain(name, "is not true or false");
  return std::nullopt;
}

std::optional<std::uint64_t> JsonBody::id(std::string_view name) {
  static constexpr double kMostExact = 9007199254740992.0;
  const data::JsonValue* value = find(name);
  if (value == nullptr) return std::nullopt;
  const double* number = value->number();
  if (number != nullptr && *number >= 1 && *number <= kMostExact && *number == std::floor(*number))
    return static_cast<std::uint64_t>(*number);
  complain(name, "is not an id (a whole number from 1 on)");
  return std::nullopt;
}

std::optional<JsonBody> JsonBody::object(std::string_view name) {
  const data::JsonValue* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (value->object() == nullptr) {
    complain(name, "is not an object");
    return std::nullopt;
  }
  JsonBody inner(*value);
  inner.within_ = within_ + std::string(name) + ".";
  return inner;
}

void JsonBody::require(std::string_view name) {
  if (value_[name].is_null()) complain(name, "is missing");
}

Status JsonBody::finish() const {
  if (!problem_.empty()) return Error{Code::kInvalidArgument, problem_};
  for (const auto& [key, value] : *value_.object()) {
    if (!known_.contains(key))
      return Error{Code::kInvalidArgument, "field \"" + within_ + key + "\" is not known here"};
  }
  return Done{};
}

}  // namespace kin::server
