// Finds fields of one JSONL record without copying the others.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/text/json_text.h"
#include "data/text/value_arena.h"

namespace kin::data {

// The number of bytes after a record that must be readable; their values do not matter.
inline constexpr std::size_t kJsonPadding = 64;

// Why a record could not be read.
struct RecordProblem {
  enum class Kind { kMalformed, kFieldMissing };
  Kind kind = Kind::kMalformed;
  std::string why;
  friend bool operator==(const RecordProblem&, const RecordProblem&) = default;
};

// How columns are found in a record.
enum class JsonColumns {
  kPaths,          // top-level keys or paths; one that is missing is a problem
  kKeysOrNothing,  // top-level keys; one that is missing is null
};

// Finds the requested columns in records. A column is a top-level key, or a path: a.b reaches into
// objects, and a[].b into each object of a list, whose values are joined with line ends, without
// nulls. A key whose own name contains the dot or the brackets is preferred. If a key appears twice
// in an object, the first value counts. One thread only.
class JsonRecordReader {
 public:
  // The last `optional_columns` columns may be missing in any case.
  explicit JsonRecordReader(std::vector<std::string> columns,
                            JsonColumns kind = JsonColumns::kPaths,
                            std::size_t optional_columns = 0);
  ~JsonRecordReader();
  JsonRecordReader(JsonRecordReader&&) noexcept;

  // Declares that the next records lie in `block`, each on its own line, and are read from
  // front to back. Only makes reading faster. kJsonPadding bytes after the block must be
  // readable.
  void begin_block(std::string_view block);
  // Declares that the next records may lie anywhere.
  void end_block();

  // Reads one record. kJsonPadding bytes after it must be readable. Fills `values`, one per column:
  // a string's text, the JSON text of anything else, a view without data for null. Views point into
  // `record` or `arena`. Checks UTF-8, the ends of strings, braces and commas, and the requested
  // values; other values may be invalid JSON, such as NaN or a lone surrogate. Returns the problem
  // of the record, if it has one.
  std::optional<RecordProblem> read(std::string_view record, ValueArena& arena,
                                    std::string_view* values);

  // Whether the last value of `column` from read() is a string, not other JSON.
  bool was_string(std::size_t column) const;
  // The last value of `column` from read() as it is in the record, with quotes. No data if the
  // record lacks it, or if it was joined from a list.
  std::string_view raw(std::size_t column) const;
  // Whether any record had `column`, even as null.
  bool ever_found(std::size_t column) const;

  // The names of the top-level keys of `record`, up to the first error.
  std::vector<std::string> keys(std::string_view record);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kin::data
