// The fields of a JSON object, read into typed variables. Errors name the field.
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/result.h"
#include "data/json_value.h"

namespace kin::data {

// The numbers a field may have; both ends are allowed.
struct JsonRange {
  double least = std::numeric_limits<double>::lowest();
  double most = std::numeric_limits<double>::max();
};

// The words a field may have, and the value of each.
template <typename T>
using JsonChoice = std::pair<std::string_view, T>;

//   JsonFields fields(json);
//   fields.require("id");
//   fields.read("id", document.id);
//   fields.read("k", question.k, {1, 1000});
//   KIN_RETURN_IF_ERROR(fields.finish());
//
// read() sets its variable and returns true if the field is there and valid. It leaves the variable
// alone if the field is missing or null. If the value has the wrong type or is out of range, or the
// field is given twice, read() returns false and the first such problem is kept for status() and
// finish(): `field "links[2].weight" must be a number`.
//
// Borrows the value, which must outlive it. One thread only.
class JsonFields {
 public:
  // `path` is the path of `value` in messages; empty for a whole document. A value that is not an
  // object is a problem; null is an object without fields.
  explicit JsonFields(const JsonValue& value, std::string path = {});

  bool read(std::string_view name, std::string& out);
  bool read(std::string_view name, bool& out);
  bool read(std::string_view name, double& out, JsonRange range = {});
  // A whole number.
  template <std::integral T>
  bool read(std::string_view name, T& out, JsonRange range = whole_range<T>()) {
    const auto number = whole(name, range);
    if (number) out = static_cast<T>(*number);
    return number.has_value();
  }
  // One string, or a list of strings.
  bool read(std::string_view name, std::vector<std::string>& out);
  // A list of whole numbers from 0 to 2^53.
  bool read(std::string_view name, std::vector<std::uint64_t>& out);
  // A list of numbers that are finite as floats.
  bool read(std::string_view name, std::vector<float>& out);
  template <typename T, std::size_t N>
  bool read(std::string_view name, T& out, const JsonChoice<T> (&choices)[N]) {
    const auto chosen = choice(name, N, [&](std::size_t i) { return choices[i].first; });
    if (chosen) out = choices[*chosen].second;
    return chosen.has_value();
  }
  template <typename T, typename... More>
  bool read(std::string_view name, std::optional<T>& out, const More&... more) {
    T value{};
    if (!read(name, value, more...)) return false;
    out = std::move(value);
    return true;
  }

  // Calls take(JsonFields&) with the fields of the object in `name`, if there is one. Problems of
  // inner objects are reported by this one.
  template <typename Take>
  bool read_object(std::string_view name, Take take) {
    const JsonValue* value = find(name);
    if (value == nullptr) return false;
    JsonFields inner(*value, path(name));
    take(inner);
    return adopt(inner);
  }
  // Calls take(JsonFields&) with each object of the list in `name`, in order.
  template <typename Take>
  bool read_objects(std::string_view name, Take take) {
    const JsonValue* value = find_list(name);
    if (value == nullptr) return false;
    bool good = true;
    for (std::size_t i = 0; i < value->items().size(); ++i) {
      JsonFields inner(value->items()[i], path(name) + "[" + std::to_string(i) + "]");
      take(inner);
      good = adopt(inner) && good;
    }
    return good;
  }

  // The value of a field, for types that read() does not know; null if it is missing or null.
  const JsonValue* find(std::string_view name);
  // The same for a list; anything else is a problem.
  const JsonValue* find_list(std::string_view name);
  // Calls take(name, value) with every field that was not read, in their order.
  template <typename Take>
  void take_rest(Take take) {
    for (std::size_t i = 0; i < asked_.size(); ++i) {
      if (asked_[i]) continue;
      asked_[i] = true;
      take((*object_)[i].first, (*object_)[i].second);
    }
  }

  // The names of all fields, in their order.
  std::vector<std::string> names() const;

  // A field that is missing or null is a problem.
  void require(std::string_view name);
  // Adds a problem that the caller has found: `field "name" <what>`. Only the first problem is
  // kept. An empty name stands for the object itself.
  void fail(std::string_view name, std::string_view what);

  // kInvalidArgument with the first problem.
  Status status() const;
  // The same, and a field that was not read is a problem too.
  Status finish() const;

 private:
  // Doubles, which numbers in JSON are, hold whole numbers exactly up to 2^53.
  static constexpr double kMostExact = 9007199254740992.0;

  template <std::integral T>
  static constexpr JsonRange whole_range() {
    const double least = static_cast<double>(std::numeric_limits<T>::min());
    const double most = static_cast<double>(std::numeric_limits<T>::max());
    return {least < -kMostExact ? -kMostExact : least, most > kMostExact ? kMostExact : most};
  }

  std::string path(std::string_view name) const;
  std::optional<double> whole(std::string_view name, JsonRange range);
  template <typename T, typename IsValid>
  bool read_numbers(std::string_view name, std::string_view must, std::vector<T>& out,
                    IsValid is_valid);
  // The number of the word that the field has.
  template <typename WordOf>
  std::optional<std::size_t> choice(std::string_view name, std::size_t count, WordOf word_of) {
    const JsonValue* value = find(name);
    if (value == nullptr) return std::nullopt;
    std::string words;
    for (std::size_t i = 0; i < count; ++i) {
      if (value->string() != nullptr && *value->string() == word_of(i)) return i;
      words += (i == 0 ? "\"" : ", \"") + std::string(word_of(i)) + "\"";
    }
    fail(name, "must be one of " + words);
    return std::nullopt;
  }
  bool adopt(const JsonFields& inner);
  std::string first_unknown() const;

  const JsonValue::Object* object_;
  std::string path_;
  std::vector<bool> asked_;  // whether each member of the object was read
  std::string problem_{};
  std::string unknown_{};  // path of a field of an inner object that was not read
};

}  // namespace kin::data
