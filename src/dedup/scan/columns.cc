#include "dedup/scan/columns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace kin::dedup {

Status settle_columns(data::Dataset& dataset, DedupOptions& options) {
  KIN_TRY(const std::vector<std::string> columns, dataset.columns());
  const auto has = [&](std::string_view name) {
    return std::find(columns.begin(), columns.end(), name) != columns.end();
  };
  if (!options.id_column && has("id")) options.id_column = "id";
  if (!options.source_column && has("source")) options.source_column = "source";
  std::optional<std::string> keep_column;
  if (options.keep.needs_column()) keep_column = options.keep.column;
  const std::pair<std::string_view, const std::optional<std::string>&> named[] = {
      {"--id", options.id_column}, {"--source", options.source_column}, {"--keep", keep_column}};
  for (const auto& [flag, column] : named) {
    if (!column || has(*column) || has(column->substr(0, column->find('.')))) continue;
    return Error{Code::kNotFound,
                 fmt::format("{} names column \"{}\", which is not there; the records have: {}", flag,
                             *column, fmt::join(columns, ", "))};
  }
  return Done{};
}

}  // namespace kin::dedup
