// The JSON object that a request brings.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/result.h"
#include "data/json_value.h"

namespace kin::server {

// Read by asking for each field that may be there; then finish() tells what was wrong: a field that
// has another type, is not asked for, is given twice, or is required and missing. One thread only.
class JsonBody {
 public:
  // No body at all is an object without fields.
  static Result<JsonBody> parse(std::string_view body);

  std::optional<std::string> text(std::string_view name);
  std::optional<bool> boolean(std::string_view name);
  // A whole number from 1 on.
  std::optional<std::uint64_t> id(std::string_view name);
  // An object within; finish() it too.
  std::optional<JsonBody> object(std::string_view name);

  void require(std::string_view name);
  Status finish() const;

 private:
  explicit JsonBody(data::JsonValue value) : value_(std::move(value)) {}
  const data::JsonValue* find(std::string_view name);
  void complain(std::string_view name, std::string_view what);

  data::JsonValue value_;
  std::string within_{};  // "credentials." for messages
  std::set<std::string, std::less<>> known_{};
  std::string problem_{};
};

}  // namespace kin::server
