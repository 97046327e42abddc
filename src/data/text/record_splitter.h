// Finds the ends of records in JSONL and CSV.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "data/input.h"

namespace kin::data {

inline constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

// The delimiter of CSV or TSV.
char delimiter_of(Format format);

// A record as it lies in its file, its line end included.
struct RecordSpan {
  std::size_t end = 0;      // where it ends, behind its line end
  std::uint32_t lines = 1;  // the lines it takes: a quoted CSV value may hold line ends
  bool blank = false;       // an empty line, in JSONL also one of spaces: not a record
};

// A CSV record with quotes that is longer than this is treated as one whose quoted value is never
// closed.
inline constexpr std::size_t kLongestQuotedRecord = 64 << 20;

// Whether the file continues after the given bytes.
enum class Behind { kMore, kEndOfFile };

// The record that starts at `begin`, which is not the end of `bytes`. Nothing if its end is not
// in `bytes` and more may follow. A CSV record ends at the first line end outside quotes; a
// quote opens a quoted value only at the start of a value (RFC 4180). If a quoted value is not
// closed before the end of the file, or within kLongestQuotedRecord, the record is its first
// line alone, which is malformed: one stray quote must not swallow the records after it.
// Thread-safe.
std::optional<RecordSpan> next_record(Format format, std::string_view bytes, std::size_t begin,
                                      Behind behind);

// The position after the closing quote of the CSV value whose opening quote is at `at`; nullptr if
// it is not closed before `end`.
const char* skip_quoted(const char* at, const char* end);

}  // namespace kin::data
