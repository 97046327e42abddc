#include "dedup/scan/columns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "dedup/scan/scan.h"

namespace kin::dedup {

Status settle_columns(data::Dataset& dataset, DedupOptions& options) {
  KIN_TRY(const std::vector<std::string> columns, dataset.columns());
  const auto has = [&](std::string_view name) {
    return std::find(columns.begin(), columns.end(), name) != columns.end();
  };
  // Without a record there is no column either: reading reports the cause.
  if (columns.empty()) return Done{};
  if (!options.id_column && has("id")) options.id_column = "id";
  if (!options.source_column && has("source")) options.source_column = "source";
  // A later record of JSONL may have the column of --keep: check_found() knows after reading all.
  std::optional<std::string> keep_column;
  const bool knows_all = std::none_of(
      dataset.inputs().begin(), dataset.inputs().end(),
      [](const data::Input& input) { return input.type.format == data::Format::kJsonl; });
  if (options.keep.needs_column() && knows_all) keep_column = options.keep.column;
  const std::pair<std::string_view, const std::optional<std::string>&> named[] = {
      {"--id", options.id_column}, {"--source", options.source_column}, {"--keep", keep_column}};
  for (const auto& [flag, column] : named) {
    if (!column || has(*column) || has(column->substr(0, column->find('.')))) continue;
    return Error{Code::kNotFound,
                 fmt::format("{} names column \"{}\", which does not exist; the records have: {}",
                             flag, *column, fmt::join(columns, ", "))};
  }
  return Done{};
}

Status check_found(data::Dataset& dataset, const DedupOptions& options,
                   const std::vector<bool>& found) {
  const std::vector<std::string> columns = columns_read(options);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (i >= found.size() || found[i]) continue;
    KIN_TRY(const std::vector<std::string> names, dataset.columns());
    const bool of_text = i < options.fields.size();
    return Error{
        Code::kNotFound,
        fmt::format("{}{}: no record has {} \"{}\" (use {}); the records have: {}",
                    dataset.inputs().front().shown_as,
                    dataset.inputs().size() > 1 ? " and the other inputs" : "",
                    of_text ? "a field" : "a column", columns[i],
                    of_text ? "--field" : "--keep with another column", fmt::join(names, ", "))};
  }
  return Done{};
}

void merge_found(const std::vector<bool>& more, std::vector<bool>& all) {
  all.resize(more.size());
  for (std::size_t i = 0; i < more.size(); ++i) all[i] = all[i] || more[i];
}

}  // namespace kin::dedup
