// Where records of JSONL and CSV end.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "data/input.h"

namespace kin::data {

// A record as it lies in its file, its line end included.
struct RecordSpan {
  std::size_t end = 0;      // where it ends, behind its line end
  std::uint32_t lines = 1;  // the lines it takes: a quoted CSV value may hold line ends
  bool blank = false;       // an empty line, in JSONL also one of spaces: not a record
};

// The record that starts at `begin` of `bytes`. Nothing if its end is not in `bytes`; if the file
// ends there, call last_record(). A CSV record ends at the first line end outside quotes; a quote
// opens a quoted value only at the start of a value, as RFC 4180 has it. Thread-safe.
std::optional<RecordSpan> next_record(Format format, std::string_view bytes, std::size_t begin);

// The record from `begin` to the end of the file, which has no line end.
RecordSpan last_record(Format format, std::string_view bytes, std::size_t begin);

}  // namespace kin::data
