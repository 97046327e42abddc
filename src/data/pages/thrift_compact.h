// Thrift's compact protocol, in which Parquet footers are written, as a tree of values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kin::data {

enum class ThriftType : std::uint8_t {
  kTrue = 1,
  kFalse = 2,
  kByte = 3,
  kInt16 = 4,
  kInt32 = 5,
  kInt64 = 6,
  kDouble = 7,
  kBinary = 8,
  kList = 9,
  kSet = 10,
  kStruct = 12,
};

struct ThriftField;

// A value and its contents. Thread-compatible.
struct ThriftValue {
  ThriftType type = ThriftType::kStruct;
  std::int64_t number = 0;                   // integers, bytes, and truth in lists
  std::string bytes;                         // binary; the 8 bytes of a double
  ThriftType element = ThriftType::kStruct;  // of a list or set
  std::vector<ThriftValue> items;            // of a list or set
  std::vector<ThriftField> fields;           // of a struct, by ascending id

  // The field `id` of a struct, or nullptr.
  ThriftValue* field(int id);
  const ThriftValue* field(int id) const;
  // The number in the field `id`, or `otherwise` if there is no such field.
  std::int64_t number_of(int id, std::int64_t otherwise = 0) const;
  // Sets or adds the field `id` of a struct.
  void put(int id, ThriftValue value);
  void put_number(int id, ThriftType type_of_number, std::int64_t value);
  void erase(int id);
};

struct ThriftField {
  int id = 0;
  ThriftValue value;
};

// Parses all of `bytes` as one struct. Maps, which Parquet does not use, are
// refused.
Result<ThriftValue> decode_thrift(std::string_view bytes);

// Parses the struct at the start of `bytes`. `used` is its length.
Result<ThriftValue> decode_thrift_prefix(std::string_view bytes, std::size_t& used);

// Appends `value`, a struct, to `out`: the same bytes that decode_thrift() read, if those used the
// shortest encoding.
void encode_thrift(std::string& out, const ThriftValue& value);

}  // namespace kin::data
