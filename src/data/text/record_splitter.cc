#include "data/text/record_splitter.h"

#include <algorithm>
#include <cstring>

namespace kin::data {
namespace {

const char* find(const char* from, const char* end, char c) {
  if (from == end) return nullptr;
  return static_cast<const char*>(std::memchr(from, c, static_cast<std::size_t>(end - from)));
}

// Spaces and tabs are values in CSV and TSV. An empty line could be an empty value of the only
// column; it is treated as blank, as by other readers.
bool is_blank(Format format, const char* from, const char* end) {
  const bool spaces_too = format == Format::kJsonl;
  return std::all_of(from, end, [&](char c) {
    return c == '\r' || c == '\n' || (spaces_too && (c == ' ' || c == '\t'));
  });
}

// The end of a record with quotes, as far as the bytes show it.
struct QuotedEnd {
  const char* line_end = nullptr;  // nullptr: not found
  bool in_quotes = false;          // a quoted value was still open where the bytes ended
};

QuotedEnd quoted_record_end(const char* from, const char* end, char delimiter) {
  for (const char* at = from; at != end; ++at) {
    if (*at == '"') at = skip_quoted(at, end);
    if (at == nullptr) return {nullptr, true};
    while (at != end && *at != delimiter && *at != '\n') ++at;
    if (at == end) break;
    if (*at == '\n') return {at, false};
  }
  return {};
}

}  // namespace

char delimiter_of(Format format) {
  return format == Format::kTsv ? '\t' : ',';
}

const char* skip_quoted(const char* at, const char* end) {
  for (++at;; at += 2) {
    at = find(at, end, '"');
    if (at == nullptr) return nullptr;
    if (at + 1 == end || at[1] != '"') return at + 1;
  }
}

std::optional<RecordSpan> next_record(Format format, std::string_view bytes, std::size_t begin,
                                      Behind behind) {
  const char* const from = bytes.data() + begin;
  const char* const end = bytes.data() + bytes.size();
  const auto to = [&](const char* at, std::uint32_t lines) {
    return RecordSpan{static_cast<std::size_t>(at - bytes.data()), lines,
                      is_blank(format, from, at)};
  };
  const auto rest = [&] {
    return to(end, static_cast<std::uint32_t>(1 + std::count(from, end, '\n')));
  };
  const char* const line_end = find(from, end, '\n');
  if (line_end == nullptr) {
    if (behind == Behind::kMore) return {};
    return rest();
  }
  if (format == Format::kJsonl || find(from, line_end, '"') == nullptr) return to(line_end + 1, 1);
  const bool too_long = bytes.size() - begin >= kLongestQuotedRecord;
  const char* const limit = too_long ? from + kLongestQuotedRecord : end;
  const QuotedEnd quoted = quoted_record_end(from, limit, delimiter_of(format));
  if (quoted.line_end != nullptr) {
    return to(quoted.line_end + 1,
              static_cast<std::uint32_t>(std::count(from, quoted.line_end + 1, '\n')));
  }
  if (too_long) return to(line_end + 1, 1);
  if (behind == Behind::kMore) return {};
  return quoted.in_quotes ? to(line_end + 1, 1) : rest();
}

}  // namespace kin::data
