#include "data/type_notes.h"

#include <fmt/format.h>

#include <cstdlib>
#include <optional>

#include "data/sql_type.h"

namespace kin::data {
namespace {

// The kind of values that `format` has no way to write, in the plural.
std::optional<std::string_view> lacking(const std::string& type, Format format) {
  if (format == Format::kParquet) return {};
  if (is_nested(type) && format != Format::kJsonl) return "nesting";
  if (format == Format::kJsonl && is_long_decimal(type)) return "decimals of more than 15 digits";
  std::optional<std::string_view> kind;
  replace_types(type, [&](std::string_view word) {
    if (word.starts_with("TIME") || word == "DATE") kind = "dates";
    if (word == "BLOB") kind = "binary values";
    if (word == "UUID") kind = "UUIDs";
    if (word == "INTERVAL") kind = "intervals";
    if (word == "DECIMAL" && is_nested(type) && format == Format::kJsonl) kind = "decimals";
    return std::string(word);
  });
  return kind;
}

std::string_view written_as(std::string_view kind) {
  if (kind == "nesting") return "JSON text";
  if (kind == "decimals") return "JSON with numbers of at most 15 digits";
  if (kind == "binary values") return "text with escapes";
  return "text";
}

}  // namespace

bool is_long_decimal(const std::string& type) {
  constexpr std::string_view kStart = "DECIMAL(";
  constexpr int kDigitsOfADouble = 15;
  if (!type.starts_with(kStart) || is_nested(type)) return false;
  return std::atoi(type.c_str() + kStart.size()) > kDigitsOfADouble;
}

void add_type_notes(const std::vector<ParquetColumn>& columns, Format format,
                    std::vector<std::string>& notes) {
  const std::string_view name = format_name(format);
  for (const ParquetColumn& column : columns) {
    const auto kind = lacking(column.type, format);
    if (!kind) continue;
    notes.push_back(fmt::format("{} has no {}: column `{}` was written as {}", name, *kind,
                                column.name, written_as(*kind)));
  }
  if (format == Format::kCsv || format == Format::kTsv) {
    notes.push_back(fmt::format(
        "{} has no types and no nulls: every value was written as text, null as an empty value",
        name));
  }
}

}  // namespace kin::data
