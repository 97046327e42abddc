#include "data/parquet/columns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "data/duckdb/sql_type.h"

namespace kin::data {
namespace {

const ParquetColumn* find_column(const ParquetFile& file, const std::string& name) {
  const std::string folded = folded_name(name);
  const auto found =
      std::find_if(file.columns.begin(), file.columns.end(),
                   [&](const ParquetColumn& one) { return folded_name(one.name) == folded; });
  return found == file.columns.end() ? nullptr : &*found;
}

// Adds a note if a file spells `column` differently.
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

struct Digits {
  int all = 0;
  int after_point = 0;
};

// The number of digits that an exact type may need.
std::optional<Digits> exact_digits(const std::string& type) {
  if (type == "TINYINT" || type == "UTINYINT") return Digits{3, 0};
  if (type == "SMALLINT" || type == "USMALLINT") return Digits{5, 0};
  if (type == "INTEGER" || type == "UINTEGER") return Digits{10, 0};
  if (type == "BIGINT") return Digits{19, 0};
  if (type == "UBIGINT") return Digits{20, 0};
  constexpr std::string_view kDecimal = "DECIMAL(";
  if (!type.starts_with(kDecimal)) return {};
  const std::size_t comma = std::min(type.find(','), type.size() - 1);
  return Digits{std::atoi(type.c_str() + kDecimal.size()), std::atoi(type.c_str() + comma + 1)};
}

// True if a value of the plain type `from` may change when it is converted to `to`.
bool loses_digits(const std::string& from, const std::string& to) {
  const auto digits = exact_digits(from);
  if (to == "FLOAT") return from == "DOUBLE" || (digits && digits->all > 6);
  if (to == "DOUBLE") return digits && digits->all > 15;
  if (from == "TIMESTAMP_NS") return to.starts_with("TIMESTAMP") || to == "DATE";
  const auto room = exact_digits(to);
  if (!digits || !room) return false;
  return room->after_point < digits->after_point ||
         room->all - room->after_point < digits->all - digits->after_point;
}

struct TypeChange {
  std::string from;
  std::string to;
};

// The change of a part of `from` in the conversion to `to`; one that loses digits, if any does.
std::optional<TypeChange> change_of(const SqlType& from, const SqlType& to) {
  if (from.text == to.text) return {};
  if (from.kind != to.kind || from.kind == SqlType::Kind::kPlain)
    return TypeChange{from.text, to.text};
  std::optional<TypeChange> found;
  for (std::size_t i = 0; i < from.inner.size(); ++i) {
    std::size_t other = i;
    if (from.kind == SqlType::Kind::kStruct) {
      const std::string name = folded_name(from.names[i]);
      other = 0;
      while (other < to.names.size() && folded_name(to.names[other]) != name) ++other;
    }
    if (other >= to.inner.size()) return TypeChange{from.text, to.text};
    const auto inner = change_of(from.inner[i], to.inner[other]);
    if (inner && (!found || loses_digits(inner->from, inner->to))) found = inner;
  }
  return found;
}

// Parquet has no integers of more than 64 bits: DuckDB would write doubles. They result from signed
// and unsigned integers of 64 bits, which have at most 20 digits.
std::string storable(const std::string& type, Format format) {
  if (format != Format::kParquet) return type;
  return replace_types(type, [](std::string_view word) {
    return word == "HUGEINT" ? std::string("DECIMAL(20,0)") : std::string(word);
  });
}

// A file that has `column`, with a part of it of another type than `type`.
const ParquetFile* file_of_other_type(const ParquetColumn& column, const std::string& type,
                                      std::span<const ParquetFile> files) {
  for (const ParquetFile& file : files) {
    const ParquetColumn* const mine = find_column(file, column.name);
    if (mine != nullptr && mine->type != type) return &file;
  }
  return nullptr;
}

// Adds a note if the type of `column`, which holds the values of all files, differs from a file's
// own.
Status compare_types(const ParquetColumn& column, std::span<const ParquetFile> files,
                     std::vector<std::string>& notes) {
  std::optional<std::string> note;
  for (const ParquetFile& file : files) {
    const ParquetColumn* const mine = find_column(file, column.name);
    if (mine == nullptr) continue;
    const auto change = change_of(parse_type(mine->type), parse_type(column.type));
    if (!change) continue;
    const ParquetFile* const other = file_of_other_type(column, mine->type, files);
    const std::string where =
        other == nullptr
            ? ""
            : fmt::format(" and {} in {}", find_column(*other, column.name)->type, other->shown_as);
    if (loses_digits(change->from, change->to)) {
      return Error{Code::kInvalidArgument,
                   fmt::format("column `{}` is {} in {}{}: no type holds the values of both with "
                               "all digits (convert one of the files)",
                               mine->name, mine->type, file.shown_as, where)};
    }
    if (!note) {
      note = fmt::format("column `{}` is {} in {}{}: it was written as {}", mine->name, mine->type,
                         file.shown_as, where, column.type);
    }
  }
  if (note) notes.push_back(*note);
  return Done{};
}

bool lacks_one(std::span<const ParquetFile> files, const std::vector<ParquetColumn>& columns) {
  return std::any_of(files.begin(), files.end(),
                     [&](const ParquetFile& file) { return file.columns.size() < columns.size(); });
}

bool is_nanoseconds(const ThriftValue& element) {
  constexpr int kTimestamp = 8;
  constexpr int kTime = 7;
  constexpr int kUnit = 2;
  constexpr int kNanos = 3;
  const ThriftValue* const logical = element.field(ids::element::kLogical);
  if (logical == nullptr) return false;
  for (const int kind : {kTimestamp, kTime}) {
    const ThriftValue* const about = logical->field(kind);
    const ThriftValue* const unit = about == nullptr ? nullptr : about->field(kUnit);
    if (unit != nullptr && unit->field(kNanos) != nullptr) return true;
  }
  return false;
}

}  // namespace

void add_schema_notes(std::span<const ParquetFile> files, std::vector<std::string>& notes) {
  bool has_ids = false;
  bool required = false;
  bool nanoseconds = false;
  for (const ParquetFile& file : files) {
    const std::vector<ThriftValue>& elements = file.footer->schema();
    for (std::size_t i = 1; i < elements.size(); ++i) {
      has_ids = has_ids || elements[i].field(ids::element::kFieldId) != nullptr;
      required = required || elements[i].number_of(ids::element::kRepetition) == 0;
      nanoseconds = nanoseconds || is_nanoseconds(elements[i]);
    }
  }
  std::vector<std::string> lost;
  if (has_ids) lost.emplace_back("field ids");
  if (required) lost.emplace_back("REQUIRED (every column becomes OPTIONAL)");
  if (nanoseconds) lost.emplace_back("times finer than a microsecond");
  if (lost.empty()) return;
  notes.push_back(fmt::format("the inputs have different schemas: the output does not keep {}",
                              fmt::join(lost, ", ")));
}

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
                                                 std::span<const ParquetFile> files, Format format,
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
  for (const auto& row : rows)
    columns.push_back({row[0].value_or(""), storable(row[1].value_or(""), format)});
  if (lacks_one(files, columns)) {
    notes.push_back(
        "the inputs have different columns: the output has all of them, with nulls where a file "
        "lacks one");
  }
  for (const ParquetColumn& column : columns) {
    add_spelling_note(column, files, notes);
    KIN_RETURN_IF_ERROR(compare_types(column, files, notes));
  }
  return columns;
}

}  // namespace kin::data
