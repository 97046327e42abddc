#include "data/record_splitter.h"

#include <algorithm>
#include <cstring>

namespace kin::data {
namespace {

const char* find(const char* from, const char* end, char c) {
  return static_cast<const char*>(std::memchr(from, c, static_cast<std::size_t>(end - from)));
}

// Spaces and tabs are values in CSV and TSV. An empty line could be an empty value of the only
// column; it is taken for blank, as other readers do.
bool is_blank(Format format, const char* from, const char* end) {
  const bool spaces_too = format == Format::kJsonl;
  return std::all_of(from, end, [&](char c) {
    return c == '\r' || c == '\n' || (spaces_too && (c == ' ' || c == '\t'));
  });
}

// Behind the closing quote of the value whose opening quote is at `at`, or nullptr.
const char* skip_quoted(const char* at, const char* end) {
  for (++at;; at += 2) {
    at = find(at, end, '"');
    if (at == nullptr) return nullptr;
    if (at + 1 == end || at[1] != '"') return at + 1;
  }
}

// The line end of the record at `from`, which has quotes in it, or nullptr.
const char* quoted_record_end(const char* from, const char* end, char delimiter) {
  const char* at = from;
  while (at != nullptr && at != end) {
    if (*at == '"') at = skip_quoted(at, end);
    if (at == nullptr) return nullptr;
    while (at != end && *at != delimiter && *at != '\n') ++at;
    if (at == end) return nullptr;
    if (*at == '\n') return at;
    ++at;
  }
  return nullptr;
}

}  // namespace

std::optional<RecordSpan> next_record(Format format, std::string_view bytes, std::size_t begin) {
  const char* const from = bytes.data() + begin;
  const char* const end = bytes.data() + bytes.size();
  const auto end_of = [&](const char* at) { return static_cast<std::size_t>(at - bytes.data()); };
  const char* line_end = find(from, end, '\n');
  if (line_end == nullptr) return {};
  if (format == Format::kJsonl || find(from, line_end, '"') == nullptr) {
    return RecordSpan{end_of(line_end + 1), 1, is_blank(format, from, line_end)};
  }
  line_end = quoted_record_end(from, end, format == Format::kTsv ? '\t' : ',');
  if (line_end == nullptr) return {};
  const auto lines = static_cast<std::uint32_t>(std::count(from, line_end + 1, '\n'));
  return RecordSpan{end_of(line_end + 1), lines, false};
}

RecordSpan last_record(Format format, std::string_view bytes, std::size_t begin) {
  const char* const from = bytes.data() + begin;
  const char* const end = bytes.data() + bytes.size();
  const auto lines = static_cast<std::uint32_t>(1 + std::count(from, end, '\n'));
  return {bytes.size(), lines, is_blank(format, from, end)};
}

}  // namespace kin::data
