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
  for (const auto& column : {options.id_column, options.source_column}) {
    if (!column || has(*column) || has(column->substr(0, column->find('.')))) continue;
    return Error{Code::kNotFound, fmt::format("there is no column \"{}\"; the records have: {}",
                                              *column, fmt::join(columns, ", "))};
  }
  return Done{};
}

}  // namespace kin::dedup
