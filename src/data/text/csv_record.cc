#include "data/text/csv_record.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cstring>

#include "data/text/record_splitter.h"

namespace kin::data {
namespace {

std::string_view without_line_end(std::string_view record) {
  if (record.ends_with('\n')) record.remove_suffix(1);
  if (record.ends_with('\r')) record.remove_suffix(1);
  return record;
}

}  // namespace

std::optional<std::string> split_csv(std::string_view record, char delimiter,
                                     std::vector<std::string_view>& fields) {
  fields.clear();
  record = without_line_end(record);
  const char* const record_end = record.data() + record.size();
  std::size_t begin = 0;
  for (;;) {
    std::size_t end = begin;
    if (begin < record.size() && record[begin] == '"') {
      const char* const closed = skip_quoted(record.data() + begin, record_end);
      if (closed == nullptr) return "a quoted value is not closed";
      end = static_cast<std::size_t>(closed - record.data());
      if (end < record.size() && record[end] != delimiter)
        return "something follows a closing quote";
    } else {
      end = std::min(record.find(delimiter, begin), record.size());
    }
    fields.push_back(record.substr(begin, end - begin));
    if (end == record.size()) return {};
    begin = end + 1;
  }
}

std::string_view unquote_csv(std::string_view field, ValueArena& arena) {
  if (field.empty()) return std::string_view("", 0);
  if (field.front() != '"') return field;
  std::string_view inside = field.substr(1, field.size() - 2);
  if (inside.empty()) return std::string_view("", 0);
  if (inside.find('"') == std::string_view::npos) return inside;
  char* const text = arena.room(inside.size());
  std::size_t length = 0;
  while (!inside.empty()) {
    // Up to and including the first quote of each pair.
    const std::size_t quote = std::min(inside.find('"'), inside.size() - 1) + 1;
    std::memcpy(text + length, inside.data(), quote);
    length += quote;
    inside.remove_prefix(std::min(inside.size(), inside[quote - 1] == '"' ? quote + 1 : quote));
  }
  arena.take(length);
  return {text, length};
}

void append_csv_value(std::string& out, std::string_view value, char delimiter) {
  const bool plain = std::none_of(value.begin(), value.end(), [&](char c) {
    return c == delimiter || c == '"' || c == '\n' || c == '\r';
  });
  if (plain) {
    out += value;
    return;
  }
  out += '"';
  for (const char c : value) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

CsvRecordReader::CsvRecordReader(char delimiter, std::size_t width,
                                 std::vector<std::size_t> columns)
    : delimiter_(delimiter), width_(width), columns_(std::move(columns)) {}

std::optional<std::string> CsvRecordReader::read(std::string_view record, ValueArena& arena,
                                                 std::string_view* values) {
  if (!simdjson::validate_utf8(record.data(), record.size())) return "it is not valid UTF-8";
  if (auto problem = split_csv(record, delimiter_, fields_)) return problem;
  if (fields_.size() != width_) {
    return fmt::format("it has {} values, but the header names {} columns", fields_.size(), width_);
  }
  for (std::size_t i = 0; i < columns_.size(); ++i)
    values[i] = unquote_csv(fields_[columns_[i]], arena);
  return {};
}

}  // namespace kin::data
