// Finds fields of one JSONL record without copying the others.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kin::data {

// How many bytes after a record must be readable, whatever they are.
inline constexpr std::size_t kJsonPadding = 64;

// Memory for values that had to be unescaped. Values stay in place until clear().
class ValueArena {
 public:
  // `bytes` free bytes at one place; take() keeps the first of them.
  char* room(std::size_t bytes);
  void take(std::size_t bytes) { used_ += bytes; }
  void clear();

 private:
  struct Chunk {
    std::unique_ptr<char[]> bytes;
    std::size_t size = 0;
  };
  std::vector<Chunk> chunks_;
  std::size_t used_ = 0;  // of the last chunk
};

// Why a record could not be read.
struct RecordProblem {
  enum class Kind { kMalformed, kFieldMissing };
  Kind kind = Kind::kMalformed;
  std::string why;
  friend bool operator==(const RecordProblem&, const RecordProblem&) = default;
};

// How columns are found in a record.
enum class JsonColumns {
  kPaths,          // top-level keys or dotted paths; one that is missing is a problem
  kKeysOrNothing,  // top-level keys; one that is missing is null
};

// Validates records and finds the asked-for columns in them. A column is a top-level key, or a
// dotted path into nested objects; a key that has the dot in its own name goes first. Of a key
// that appears twice in one object the first value counts. One thread only.
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
  // point into `record` or `arena`. The whole record is checked: UTF-8, grammar, escapes. Returns
  // what is wrong with the record, if anything is.
  std::optional<RecordProblem> read(std::string_view record, ValueArena& arena,
                                    std::string_view* values);

  // Is the value that read() gave last for `column` a string, and not other JSON?
  bool was_string(std::size_t column) const;

  // The names of the top-level keys of `record`, as far as it is valid.
  std::vector<std::string> keys(std::string_view record);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct Unescaped {
  std::size_t length = 0;
  const char* problem = nullptr;  // what is wrong, if anything is
};

// Writes the text of a JSON string's inside (between the quotes) to `out`, which has room for as
// many bytes. An escape that is wrong is a problem, and so is a surrogate without its other half:
// JSON's grammar allows it, but no text holds it, and any replacement makes different strings the
// same.
Unescaped unescape_json(std::string_view inside, char* out);

}  // namespace kin::data
