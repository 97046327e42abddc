#include "data/parquet_columns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace kin::data {
namespace {

const ParquetColumn* find_column(const ParquetFile& file, const std::string& name) {
  const std::string folded = folded_name(name);
  const auto found =
      std::find_if(file.columns.begin(), file.columns.end(),
                   [&](const ParquetColumn& one) { return folded_name(one.name) == folded; });
  return found == file.columns.end() ? nullptr : &*found;
}

// A note if a file spells `column` in another way.
void add_spelling_note(const ParquetColumn& column, std::span<const ParquetFile> files,
                       std::vector<std::string>& notes) {
  for (const ParquetFile& file : files) {
    const ParquetColumn* const mine = find_column(file, column.name);
    if (mine == nullptr || mine->name == column.name) continue;
    notes.push_back(fmt::format("column `{}` of {} was taken for column `{}` of other inputs",
                                mine->name, file.shown_as, column.name));
    return;
  }
}

bool lacks_one(std::span<const ParquetFile> files, const std::vector<ParquetColumn>& columns) {
  return std::any_of(files.begin(), files.end(),
                     [&](const ParquetFile& file) { return file.columns.size() < columns.size(); });
}

}  // namespace

bool same_columns(std::span<const ParquetFile> files) {
  return std::all_of(files.begin(), files.end(), [&](const ParquetFile& file) {
    return file.columns == files.front().columns;
  });
}

bool has_column(std::span<const ParquetFile> files, const std::string& name) {
  return std::any_of(files.begin(), files.end(),
                     [&](const ParquetFile& file) { return find_column(file, name) != nullptr; });
}

Result<std::vector<ParquetColumn>> unite_columns(DuckDbSession& duckdb,
                                                 std::span<const ParquetFile> files,
                                                 std::vector<std::string>& notes) {
  if (same_columns(files)) return files.front().columns;
  std::vector<std::string> paths;
  for (const ParquetFile& file : files) paths.push_back(file.sql_path);
  KIN_TRY(const auto rows,
          duckdb.query(
              fmt::format("DESCRIBE SELECT * FROM read_parquet([{}], hive_partitioning = false, "
                          "union_by_name = true)",
                          fmt::join(paths, ", "))));
  std::vector<ParquetColumn> columns;
  for (const auto& row : rows) columns.push_back({row[0].value_or(""), row[1].value_or("")});
  if (lacks_one(files, columns)) {
    notes.push_back(
        "the inputs have different columns: the output has all of them, with nulls where a file "
        "lacks one");
  }
  for (const ParquetColumn& column : columns) add_spelling_note(column, files, notes);
  return columns;
}

}  // namespace kin::data
