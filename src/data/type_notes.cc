#include "data/type_notes.h"

#include <fmt/format.h>

#include <optional>

namespace kin::data {
namespace {

// The kind of values that `format` has no way to write, in the plural.
std::optional<std::string_view> lacking(const std::string& type, Format format) {
  if (format == Format::kParquet) return {};
  const auto mentions = [&](std::string_view name) { return type.find(name) != std::string::npos; };
  if (is_nested(type) && format != Format::kJsonl) return "nesting";
  if (mentions("TIMESTAMP") || mentions("DATE") || type == "TIME" || mentions("TIME WITH"))
    return "dates";
  if (mentions("BLOB")) return "binary values";
  if (mentions("UUID")) return "UUIDs";
  if (mentions("INTERVAL")) return "intervals";
  if (mentions("DECIMAL") && format == Format::kJsonl) return "decimals";
  return {};
}

std::string_view written_as(std::string_view kind) {
  if (kind == "nesting") return "JSON text";
  if (kind == "decimals") return "numbers";
  if (kind == "binary values") return "text with escapes";
  return "text";
}

}  // namespace

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
