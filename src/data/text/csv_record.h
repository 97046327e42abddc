// Values of one CSV or TSV record (RFC 4180).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/text/json_record.h"

namespace kin::data {

// Splits records and finds the requested columns in them. One thread only.
class CsvRecordReader {
 public:
  // `columns` are indexes into the header, which has `width` columns.
  CsvRecordReader(char delimiter, std::size_t width, std::vector<std::size_t> columns);

  // Reads one record with its line end. Fills `values`, one per column, without quotes; views point
  // into `record` or `arena`. Returns the problem of a malformed record.
  std::optional<std::string> read(std::string_view record, ValueArena& arena,
                                  std::string_view* values);

 private:
  char delimiter_;
  std::size_t width_;
  std::vector<std::size_t> columns_;
  std::vector<std::string_view> fields_;  // as they lie in the record, quotes included
};

// The values of all columns of one record, as CsvRecordReader finds them.
std::optional<std::string> split_csv(std::string_view record, char delimiter,
                                     std::vector<std::string_view>& fields);

// `field` as split_csv() gives it, without its quotes. The view points into it or `arena`.
std::string_view unquote_csv(std::string_view field, ValueArena& arena);

// Appends `value` to `out`, in quotes if it needs them.
void append_csv_value(std::string& out, std::string_view value, char delimiter);

}  // namespace kin::data
