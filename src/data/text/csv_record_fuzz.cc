// Compares the CSV reader with a simple one that goes byte by byte, and writes back what it read.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "data/text/csv_record.h"
#include "data/text/record_splitter.h"

namespace {

using kin::data::Behind;
using kin::data::Format;

void require(bool truth) {
  if (!truth) std::abort();
}

using Values = std::optional<std::vector<std::string>>;  // nothing: malformed

// Reads one record from `at` on, following the grammar, and advances `at` past it; past its first
// line if a quoted value is never closed.
Values plain_record(const std::string& bytes, std::size_t& at) {
  const std::size_t line_end = bytes.find('\n', at);
  std::vector<std::string> values{""};
  bool malformed = false;
  while (at < bytes.size()) {
    if (bytes[at] == '"') {
      bool closed = false;
      for (++at; at < bytes.size() && !closed; ++at) {
        if (bytes[at] != '"') {
          values.back() += bytes[at];
        } else if (at + 1 < bytes.size() && bytes[at + 1] == '"') {
          values.back() += bytes[at++];
        } else {
          closed = true;
        }
      }
      malformed |= !closed;
    }
    std::string rest;
    while (at < bytes.size() && bytes[at] != ',' && bytes[at] != '\n') rest += bytes[at++];
    if (at == bytes.size() || bytes[at] == '\n') {
      if (rest.ends_with('\r')) rest.pop_back();
    }
    values.back() += rest;
    if (at == bytes.size()) break;
    if (bytes[at++] == '\n') break;
    values.emplace_back();
  }
  if (malformed) {
    at = std::min(line_end, bytes.size() - 1) + 1;
    return {};
  }
  return values;
}

Values ours(std::string_view record) {
  std::vector<std::string_view> fields;
  if (kin::data::split_csv(record, ',', fields)) return {};
  kin::data::ValueArena arena;
  std::vector<std::string> values;
  for (const std::string_view field : fields)
    values.emplace_back(kin::data::unquote_csv(field, arena));
  return values;
}

void check_round_trip(const std::vector<std::string>& values) {
  std::string line;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) line += ',';
    kin::data::append_csv_value(line, values[i], ',');
  }
  line += '\n';
  const auto span = kin::data::next_record(Format::kCsv, line, 0, Behind::kMore);
  require(span.has_value() && span->end == line.size());
  const Values again = ours(line);
  require(again.has_value() && *again == values);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  std::size_t plain_at = 0;
  for (std::size_t begin = 0; begin < bytes.size();) {
    const auto span = kin::data::next_record(Format::kCsv, bytes, begin, Behind::kEndOfFile);
    const Values plain = plain_record(bytes, plain_at);
    require(plain_at == span->end);
    const Values values = ours(std::string_view(bytes).substr(begin, span->end - begin));
    begin = span->end;
    if (!values) continue;
    require(plain.has_value() && *plain == *values);
    check_round_trip(*values);
  }
  return 0;
}
