// The values of a page, decoded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "data/pages/format.h"

namespace kin::data {

// The stored type of a column.
struct ValueType {
  Physical physical = Physical::kBytes;
  std::uint32_t fixed_bytes = 0;  // of FIXED_LEN_BYTE_ARRAY
};

// The bytes of a value of fixed size; 0 for BYTE_ARRAY, 1 for BOOLEAN.
std::size_t width_of(const ValueType& type);

// Reads the values of one page after another. Each is given as bytes: the PLAIN bytes of numbers,
// the text itself for BYTE_ARRAY, one byte for a boolean. Untrusted bytes give errors at worst. One
// thread only.
class ValueReader {
 public:
  virtual ~ValueReader() = default;
  // Starts with the values of another page. The bytes must stay until the next call.
  virtual Status open(std::string_view bytes) = 0;
  // Appends views of some of the next values to `to`, at least one and at most `count`, and returns
  // how many. They are valid until the next call. Fails if the page has no more.
  virtual Result<std::size_t> read(std::size_t count, std::vector<std::string_view>& to) = 0;
};

// The values of a dictionary page.
using Dictionary = std::vector<std::string_view>;

// Views into `bytes`, the plain values of a dictionary page. An error if there are not `count`.
Result<Dictionary> read_dictionary(const ValueType& type, std::string_view bytes,
                                   std::size_t count);

// A reader of pages with `encoding`. Values of dictionary encodings are looked up in `dictionary`,
// which must outlive the reader; without one the reader gives the indexes, four bytes each.
Result<std::unique_ptr<ValueReader>> make_value_reader(const ValueType& type, Encoding encoding,
                                                       const Dictionary* dictionary);

}  // namespace kin::data
