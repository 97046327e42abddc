#include "data/parquet/type_notes.h"

#include <fmt/format.h>

#include <cstdlib>
#include <optional>

#include "data/duckdb/sql_type.h"

namespace kin::data {
namespace {

// The kind of values that `format` cannot represent, in the plural.
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

// The effect on values that were stored as `before` and are now stored as `after`.
std::string_view fate(const StoredColumn& before, const StoredColumn& after) {
  constexpr std::string_view kSame = "with the same values";
  if (before.physical == "INT96" && after.converted == "TIMESTAMP_MICROS")
    return "without what was finer than a microsecond";
  if (before.converted == "DECIMAL" && after.converted == "DECIMAL") return kSame;
  if (before.converted == "TIMESTAMP_MILLIS" && after.converted == "TIMESTAMP_MICROS") return kSame;
  if (before.converted == "TIME_MILLIS" && after.converted == "TIME_MICROS") return kSame;
  if (before.converted == "ENUM" && after.converted == "UTF8") return kSame;
  return "so that other programs may read it differently";
}

std::string_view written_as(std::string_view kind) {
  if (kind == "nesting") return "JSON text";
  if (kind == "decimals") return "JSON numbers with all digits, of which most readers keep 15";
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

void add_storage_notes(const std::vector<StoredColumn>& before,
                       const std::vector<StoredColumn>& after, std::vector<std::string>& notes) {
  if (before.size() != after.size()) {
    notes.push_back("the columns are nested in another way than in the input");
    return;
  }
  const auto words = [](const StoredColumn& column) {
    return column.converted.empty() ? column.physical
                                    : fmt::format("{} ({})", column.physical, column.converted);
  };
  for (std::size_t i = 0; i < before.size(); ++i) {
    // Newer writers leave the converted type out where a logical one says the same.
    const bool same_meaning =
        before[i].converted.empty() || before[i].converted == after[i].converted;
    if (before[i].physical == after[i].physical && same_meaning) continue;
    notes.push_back(fmt::format("column `{}` was stored as {} and is now stored as {}, {}",
                                after[i].name, words(before[i]), words(after[i]),
                                fate(before[i], after[i])));
  }
}

}  // namespace kin::data
