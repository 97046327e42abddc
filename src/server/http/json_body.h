// A strict reader for the JSON object in a request body.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "data/json_value.h"

namespace kin::server {

// Ask for each known field, then call finish(). It reports the first problem: a field of another
// type, an unknown field, a field given twice, or a required field that is missing. One thread
// only.
class JsonBody {
 public:
  // An empty body counts as an object without fields, a null as a field that is not there.
  static Result<JsonBody> parse(std::string_view body);

  std::optional<std::string> text(std::string_view name);
  std::optional<bool> boolean(std::string_view name);
  std::optional<double> number(std::string_view name);
  // A whole number from 0 to `most`.
  std::optional<std::uint32_t> whole(std::string_view name, std::uint32_t most);
  // A whole number, at least 1.
  std::optional<std::uint64_t> id(std::string_view name);
  // The elements of a list, which must not be empty. Valid as long as this object.
  std::span<const data::JsonValue> list(std::string_view name);
  // A nested object. Call its finish() too.
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
