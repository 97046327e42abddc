// A whole JSON document in memory. For small documents of any shape: a feed, a settings file.
// Datasets have readers of their own. json_fields.h reads an object's fields with error messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

namespace kin::data {

// A JSON value that owns its content. Asking for another type than the value has gives nothing, so
// a path can be walked without a check at each step. Thread-compatible.
class JsonValue {
 public:
  using Array = std::vector<JsonValue>;
  using Object = std::vector<std::pair<std::string, JsonValue>>;

  JsonValue() = default;
  explicit JsonValue(bool truth) : content_(truth) {}
  explicit JsonValue(double number) : content_(number) {}
  explicit JsonValue(std::string text) : content_(std::move(text)) {}
  explicit JsonValue(Array items) : content_(std::move(items)) {}
  explicit JsonValue(Object members) : content_(std::move(members)) {}

  bool is_null() const { return std::holds_alternative<std::monostate>(content_); }
  const bool* boolean() const { return std::get_if<bool>(&content_); }
  const double* number() const { return std::get_if<double>(&content_); }
  const std::string* string() const { return std::get_if<std::string>(&content_); }
  const Array* array() const { return std::get_if<Array>(&content_); }
  const Object* object() const { return std::get_if<Object>(&content_); }

  // The text of a string; empty for anything else.
  std::string_view text() const { return string() == nullptr ? std::string_view() : *string(); }
  // The values of an array; none for anything else.
  const Array& items() const;
  // The first member called `name`; a null value if there is none.
  const JsonValue& operator[](std::string_view name) const;

 private:
  std::variant<std::monostate, bool, double, std::string, Array, Object> content_;
};

struct JsonLimits {
  std::size_t depth = 64;
};

// Parses a whole document. kInvalidArgument says what is wrong with it. Thread-safe.
Result<JsonValue> parse_json(std::string_view bytes, JsonLimits limits = {});

}  // namespace kin::data
