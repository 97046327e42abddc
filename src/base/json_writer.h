// Writes JSON into a string, with commas and escapes in the right places.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace kin {

// Appends `text` as a JSON string, quotes included. Bytes that are not valid UTF-8 are written as
// U+FFFD, so that the output is always valid.
void append_json_string(std::string& out, std::string_view text);

//   JsonWriter json;
//   json.begin_object().field("kept", 3).key("files").begin_array().value("a.jsonl").end().end();
//
// Compact by default; with `indent` it is laid out for people. The caller keeps begin and end in
// balance. One thread only.
class JsonWriter {
 public:
  explicit JsonWriter(int indent = 0) : indent_(indent) {}

  JsonWriter& begin_object() { return open('{', '}'); }
  JsonWriter& begin_array() { return open('[', ']'); }
  JsonWriter& end();
  JsonWriter& key(std::string_view name);

  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(bool truth);
  // The fewest digits that keep the value; NaN and infinities become null.
  JsonWriter& value(double number);
  template <typename T>
    requires std::is_integral_v<T>
  JsonWriter& value(T number) {
    return raw(std::to_string(number));
  }
  // Null if there is no value.
  template <typename T>
  JsonWriter& value(const std::optional<T>& content) {
    return content ? value(*content) : null();
  }
  template <typename T>
  JsonWriter& value(const std::vector<T>& items) {
    begin_array();
    for (const T& item : items) value(item);
    return end();
  }
  JsonWriter& null() { return raw("null"); }
  // Appends `json`, which is already a JSON value, unchanged.
  JsonWriter& raw(std::string_view json);

  template <typename T>
  JsonWriter& field(std::string_view name, const T& content) {
    return key(name).value(content);
  }

  // Reserves this many bytes in all.
  void reserve(std::size_t bytes) { out_.reserve(bytes); }
  const std::string& text() const { return out_; }
  std::string take() { return std::move(out_); }

 private:
  JsonWriter& open(char bracket, char closing);
  void before_value();
  void new_line();

  std::string out_;
  std::vector<char> closings_;
  int indent_;
  bool first_ = true;
  bool after_key_ = false;
};

}  // namespace kin
