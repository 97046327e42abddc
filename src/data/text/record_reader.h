// Reads records of any text format through one interface.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/block_reader.h"
#include "data/text/json_record.h"

namespace kin::data {

// The header of a CSV or TSV file.
struct CsvHeader {
  std::string line;  // as it lies in the file, with a line end, without a byte order mark
  std::vector<std::string> names;
};

// Reads the header of `input`; an empty file is an error.
Result<CsvHeader> read_csv_header(const Input& input);

// One thread only.
class RecordReader {
 public:
  virtual ~RecordReader() = default;
  // Most records of `block` will be read, from front to back.
  virtual void begin_block(const Block& block) = 0;
  // The same, but only few records will be read.
  virtual void begin_sparse_block(const Block& block) = 0;
  // As JsonRecordReader::read(), with a problem worded for the user.
  virtual std::optional<RecordProblem> read(std::string_view record, ValueArena& arena,
                                            std::string_view* values) = 0;
  // Whether any record had `column`, even as null.
  virtual bool ever_found(std::size_t column) const = 0;
};

std::unique_ptr<RecordReader> make_json_reader(std::vector<std::string> columns,
                                               std::size_t optional_columns);
// A column that the header does not name is an error, which lists the columns of the header; one of
// the last `optional_columns` is null instead.
Result<std::unique_ptr<RecordReader>> make_csv_reader(const CsvHeader& header, const Input& input,
                                                      const std::vector<std::string>& columns,
                                                      std::size_t optional_columns);

}  // namespace kin::data
