// The types of values in the fields of JSONL records, for a schema that can hold all of them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kin::data {

// The values seen at one place of the records: at a key, or in an array. Thread-compatible.
struct JsonShape {
  // More keys than this are treated as the entries of a dictionary, not as fields of a schema.
  static constexpr std::size_t kMostFields = 1000;

  bool text = false;
  bool truth = false;
  bool integer = false;
  bool real = false;
  bool object = false;
  bool array = false;
  bool negative = false;        // an integer below 0
  bool beyond_signed = false;   // an integer that does not fit 64 bits with a sign
  bool beyond_integer = false;  // one that does not fit 64 bits at all
  bool beyond_double = false;   // a number that changes when it becomes a double
  bool repeated_key = false;    // a key that occurs twice in one object
  bool too_many_fields = false;
  std::pair<std::uint64_t, std::size_t> first{};  // the row, and the place among its keys
  std::map<std::string, std::unique_ptr<JsonShape>, std::less<>> fields;
  std::unique_ptr<JsonShape> element;  // of arrays, all together
};

// Adds the values that `other` has seen.
void merge(JsonShape& shape, const JsonShape& other);

// The keys of objects in order of first appearance.
std::vector<std::string> keys_of(const JsonShape& shape);

// Adds records to a shape. One thread only.
class JsonShapeReader {
 public:
  JsonShapeReader();
  ~JsonShapeReader();

  // `record` is valid, and kJsonPadding bytes after it can be read. Parts that cannot be read are
  // left out. `shape` is that of whole records, which may have any number of fields.
  void add(std::string_view record, std::uint64_t row, JsonShape& shape);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Whether the JSON number is unchanged after conversion to a double and back.
bool survives_as_double(std::string_view number);

}  // namespace kin::data
