// Writes records of one text format in another.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "data/input.h"
#include "data/text/record_reader.h"

namespace kin::data {

// One thread only.
class RecordEncoder {
 public:
  virtual ~RecordEncoder() = default;
  // Appends `record`, which has row `row` and kJsonPadding readable bytes after it, in the other
  // format. Returns the problem of the record, if it has one.
  virtual std::optional<std::string> append(std::string& out, std::string_view record,
                                            RecordId row) = 0;
};

// The columns that held objects or arrays. Shared by the encoders of all threads.
using NestedColumns = std::vector<std::atomic<bool>>;

// A JSON object as CSV: strings as their text, null and missing keys as nothing, other values as
// their JSON text. `nested` has as many elements as `columns`.
std::unique_ptr<RecordEncoder> json_to_csv(const std::vector<std::string>& columns, Format to,
                                           NestedColumns& nested);
// How a value of a JSON object is spooled.
enum class SpoolAs {
  kValue,     // as it is
  kText,      // its JSON text, as a string; a string stays one
  kJsonText,  // its JSON text, as a string; of a string too, quotes and all
};
// A JSON object that has each of `columns` at most once, without nulls.
std::unique_ptr<RecordEncoder> json_to_spool(const std::vector<std::string>& columns,
                                             const std::vector<SpoolAs>& spool_as);
// A CSV record as a JSON object of strings.
std::unique_ptr<RecordEncoder> csv_to_json(const std::vector<std::string>& columns, Format from);
// The same values with another delimiter.
std::unique_ptr<RecordEncoder> csv_to_csv(std::size_t columns, Format from, Format to);

// A JSON object as an element of an array. `first` is the row of the first one; the others are
// preceded by a comma. kArrayBegin and kArrayEnd enclose all of them.
std::unique_ptr<RecordEncoder> json_to_element(RecordId first);
inline constexpr std::string_view kArrayBegin = "[";
inline constexpr std::string_view kArrayEnd = "\n]\n";

// The header line for `columns`.
std::string csv_header_line(const std::vector<std::string>& columns, Format format);

}  // namespace kin::data
