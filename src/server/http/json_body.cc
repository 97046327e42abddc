#include "server/http/json_body.h"

#include <cmath>

namespace kin::server {

Result<JsonBody> JsonBody::parse(std::string_view body) {
  if (body.empty()) return JsonBody(data::JsonValue(data::JsonValue::Object{}));
  auto value = data::parse_json(body);
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
  return found == nullptr || found->is_null() ? nullptr : found;
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

std::optional<double> JsonBody::number(std::string_view name) {
  const data::JsonValue* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (value->number() != nullptr) return *value->number();
  complain(name, "is not a number");
  return std::nullopt;
}

std::optional<std::uint32_t> JsonBody::whole(std::string_view name, std::uint32_t most) {
  const auto found = number(name);
  if (!found) return std::nullopt;
  if (*found == std::floor(*found) && *found >= 0 && *found <= most)
    return static_cast<std::uint32_t>(*found);
  complain(name, "is not a whole number from 0 to " + std::to_string(most));
  return std::nullopt;
}

std::optional<std::uint64_t> JsonBody::id(std::string_view name) {
  // Doubles hold every whole number up to here.
  static constexpr double kMostExact = 9007199254740992.0;
  const auto found = number(name);
  if (!found) return std::nullopt;
  if (*found >= 1 && *found <= kMostExact && *found == std::floor(*found))
    return static_cast<std::uint64_t>(*found);
  complain(name, "is not an id (a whole number, at least 1)");
  return std::nullopt;
}

std::span<const data::JsonValue> JsonBody::list(std::string_view name) {
  const data::JsonValue* value = find(name);
  if (value == nullptr) return {};
  if (value->items().empty()) complain(name, "is empty, or not a list");
  return value->items();
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
