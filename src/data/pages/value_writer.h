// The values of a page, encoded.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "data/pages/format.h"
#include "data/pages/value_reader.h"

namespace kin::data {

// Encodes values as ValueReader gives them. One thread only.
class ValueWriter {
 public:
  virtual ~ValueWriter() = default;
  virtual void put(std::string_view value) = 0;
  // An estimate of the encoded size so far.
  virtual std::size_t bytes() const = 0;
  // Appends the encoded values to `out`, and starts over.
  virtual void take(std::string& out) = 0;
};

// A writer for pages with `encoding`, one of those that make_value_reader() knows for `type`.
// `index_bits` is the width of dictionary indexes, which are given as four bytes each.
std::unique_ptr<ValueWriter> make_value_writer(const ValueType& type, Encoding encoding,
                                               int index_bits);

}  // namespace kin::data
