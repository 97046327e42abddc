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

// How many bytes after a record must be readable, whatever they are.
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

// Finds the asked-for columns in records. A column is a top-level key, or a path: a.b reaches into
// objects, and a[].b into each object of a list, whose values are joined with line ends, without
// nulls. A key that has the dot or the brackets in its own name goes first. Of a key that appears
// twice in one object the first value counts. One thread only.
class JsonRecordReader {
 public:
  // The last `optional_columns` of them may be missing in any case.
  explicit JsonRecordReader(std::vector<std::string> columns,
                            JsonColumns kind = JsonColumns::kPaths,
                            std::size_t optional_columns = 0);
  ~JsonRecordReader();
  JsonRecordReader(JsonRecordReader&&) noexcept;

  // Says that the next records lie in `block`, each within a line of its own, and are read from
  // front to back. Makes reading most of them cheaper; of no other effect. kJsonPadding bytes
  // behind the block must be readable.
  void begin_block(std::string_view block);
  // Says that the next records may lie anywhere.
  void end_block();

  // Reads one record. kJsonPadding bytes behind it must be readable. Fills `values`, one for each
  // column: a string's text, the JSON text of anything else, a view without data for null. Views
  // point into `record` or `arena`. Checked are UTF-8, the strings' ends, the braces and commas,
  // and the values asked for; other values may be what no JSON has, such as NaN, or a surrogate
  // without its other half. Returns what is wrong with the record, if anything is.
  std::optional<RecordProblem> read(std::string_view record, ValueArena& arena,
                                    std::string_view* values);

  // Is the value that read() gave last for `column` a string, and not other JSON?
  bool was_string(std::size_t column) const;
  // The value that read() gave last for `column` as it lies in the record, quotes and all. No data
  // if the record lacks it, or if it was put together from a list.
  std::string_view raw(std::size_t column) const;
  // Has any record had `column`, be it null?
  bool ever_found(std::size_t column) const;

  // The names of the top-level keys of `record`, as far as it is valid.
  std::vector<std::string> keys(std::string_view record);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kin::data
