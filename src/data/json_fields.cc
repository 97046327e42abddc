#include "data/json_fields.h"

#include <fmt/format.h>

namespace kin::data {
namespace {

const JsonValue::Object kNoFields;

std::string range_text(std::string_view what, JsonRange range) {
  const JsonRange any;
  if (range.most == any.most && range.least == any.least) return fmt::format("must be {}", what);
  if (range.most == any.most) return fmt::format("must be {} of at least {}", what, range.least);
  return fmt::format("must be {} from {} to {}", what, range.least, range.most);
}

bool is_in(const double* number, JsonRange range) {
  return number != nullptr && *number >= range.least && *number <= range.most;
}

}  // namespace

JsonFields::JsonFields(const JsonValue& value, std::string path)
    : object_(value.object() == nullptr ? &kNoFields : value.object()),
      path_(std::move(path)),
      asked_(object_->size()) {
  if (value.object() != nullptr || value.is_null()) return;
  problem_ = path_.empty() ? "it must be a JSON object"
                           : fmt::format("field \"{}\" must be an object", path_);
}

std::string JsonFields::path(std::string_view name) const {
  if (path_.empty() || name.empty()) return path_ + std::string(name);
  return fmt::format("{}.{}", path_, name);
}

void JsonFields::fail(std::string_view name, std::string_view what) {
  if (problem_.empty()) problem_ = fmt::format("field \"{}\" {}", path(name), what);
}

const JsonValue* JsonFields::find(std::string_view name) {
  const JsonValue* found = nullptr;
  for (std::size_t i = 0; i < object_->size(); ++i) {
    const auto& [key, value] = (*object_)[i];
    if (key != name) continue;
    if (found != nullptr) fail(name, "is given twice");
    if (found == nullptr) found = &value;
    asked_[i] = true;
  }
  return found == nullptr || found->is_null() ? nullptr : found;
}

const JsonValue* JsonFields::find_list(std::string_view name) {
  const JsonValue* value = find(name);
  if (value == nullptr || value->array() != nullptr) return value;
  fail(name, "must be a list");
  return nullptr;
}

bool JsonFields::read(std::string_view name, std::string& out) {
  const JsonValue* value = find(name);
  if (value == nullptr) return false;
  if (value->string() != nullptr)
    out = *value->string();
  else
    fail(name, "must be a string");
  return value->string() != nullptr;
}

bool JsonFields::read(std::string_view name, bool& out) {
  const JsonValue* value = find(name);
  if (value == nullptr) return false;
  if (value->boolean() != nullptr)
    out = *value->boolean();
  else
    fail(name, "must be true or false");
  return value->boolean() != nullptr;
}

bool JsonFields::read(std::string_view name, double& out, JsonRange range) {
  const JsonValue* value = find(name);
  if (value == nullptr) return false;
  const bool good = is_in(value->number(), range);
  if (good)
    out = *value->number();
  else
    fail(name, range_text("a number", range));
  return good;
}

std::optional<double> JsonFields::whole(std::string_view name, JsonRange range) {
  const JsonValue* value = find(name);
  if (value == nullptr) return std::nullopt;
  const double* number = value->number();
  if (is_in(number, range) && *number == std::floor(*number)) return *number;
  fail(name, range_text("a whole number", range));
  return std::nullopt;
}

bool JsonFields::read(std::string_view name, std::vector<std::string>& out) {
  const JsonValue* value = find(name);
  if (value == nullptr) return false;
  std::vector<std::string> texts;
  if (value->string() != nullptr) texts.push_back(*value->string());
  bool good = value->string() != nullptr || value->array() != nullptr;
  for (const JsonValue& item : value->items()) {
    good = good && item.string() != nullptr;
    texts.emplace_back(item.text());
  }
  if (good)
    out = std::move(texts);
  else
    fail(name, "must be a string or a list of strings");
  return good;
}

template <typename T, typename IsValid>
bool JsonFields::read_numbers(std::string_view name, std::string_view must, std::vector<T>& out,
                              IsValid is_valid) {
  const JsonValue* value = find(name);
  if (value == nullptr) return false;
  std::vector<T> numbers;
  numbers.reserve(value->items().size());
  bool good = value->array() != nullptr;
  for (const JsonValue& item : value->items()) {
    good = good && item.number() != nullptr && is_valid(*item.number());
    if (!good) break;
    numbers.push_back(static_cast<T>(*item.number()));
  }
  if (good)
    out = std::move(numbers);
  else
    fail(name, must);
  return good;
}

bool JsonFields::read(std::string_view name, std::vector<std::uint64_t>& out) {
  return read_numbers(name, "must be a list of whole numbers", out, [](double number) {
    return is_in(&number, {0, kMostExact}) && number == std::floor(number);
  });
}

bool JsonFields::read(std::string_view name, std::vector<float>& out) {
  return read_numbers(name, "must be a list of numbers", out,
                      [](double number) { return std::isfinite(static_cast<float>(number)); });
}

std::vector<std::string> JsonFields::names() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : *object_) names.push_back(name);
  return names;
}

void JsonFields::require(std::string_view name) {
  if (find(name) == nullptr) fail(name, "is missing");
}

bool JsonFields::adopt(const JsonFields& inner) {
  if (problem_.empty()) problem_ = inner.problem_;
  if (unknown_.empty()) unknown_ = inner.first_unknown();
  return inner.problem_.empty();
}

std::string JsonFields::first_unknown() const {
  for (std::size_t i = 0; i < asked_.size(); ++i) {
    if (!asked_[i]) return path((*object_)[i].first);
  }
  return unknown_;
}

Status JsonFields::status() const {
  if (!problem_.empty()) return Error{Code::kInvalidArgument, problem_};
  return Done{};
}

Status JsonFields::finish() const {
  KIN_RETURN_IF_ERROR(status());
  if (const std::string unknown = first_unknown(); !unknown.empty())
    return Error{Code::kInvalidArgument, fmt::format("field \"{}\" is not known here", unknown)};
  return Done{};
}

}  // namespace kin::data
