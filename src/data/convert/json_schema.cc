#include "data/convert/json_schema.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "base/ascii.h"
#include "data/duckdb/session.h"

namespace kin::data {
namespace {

constexpr std::size_t kMostColumns = 10'000;
constexpr int kDeepest = 30;

bool can_be_named(const std::string& name) {
  return !name.empty() && name.find('\0') == std::string::npos;
}

// A type, or the reason why no type keeps the values.
struct TypeOrReason {
  std::string type;
  std::string_view reason;
};

TypeOrReason type_of(const JsonShape& shape, int depth);

TypeOrReason number_type(const JsonShape& shape) {
  if (shape.real) {
    if (!shape.beyond_double) return {"DOUBLE", {}};
    return {{}, "has numbers of more digits than a double holds"};
  }
  if (!shape.beyond_signed) return {"BIGINT", {}};
  if (!shape.negative && !shape.beyond_integer) return {"UBIGINT", {}};
  return {{}, "has numbers that do not fit 64 bits"};
}

TypeOrReason struct_type(const JsonShape& shape, int depth) {
  if (shape.too_many_fields) return {{}, "has more than 1,000 different fields"};
  if (shape.repeated_key) return {{}, "has an object with a repeated key"};
  if (shape.fields.empty()) return {{}, "holds only empty objects"};
  if (depth >= kDeepest) return {{}, "is nested more than 30 deep"};
  const std::vector<std::string> keys = keys_of(shape);
  if (same_but_for_case(keys).first != nullptr)
    return {{}, "has an object with keys that differ only in case"};
  std::vector<std::string> fields;
  for (const std::string& key : keys) {
    if (!can_be_named(key)) return {{}, "has an object with a key that Parquet has no name for"};
    const TypeOrReason field = type_of(*shape.fields.at(key), depth + 1);
    if (!field.reason.empty()) return field;
    fields.push_back(fmt::format("{} {}", sql_name(key), field.type));
  }
  return {fmt::format("STRUCT({})", fmt::join(fields, ", ")), {}};
}

TypeOrReason type_of(const JsonShape& shape, int depth) {
  const bool number = shape.integer || shape.real;
  const int kinds = shape.text + shape.truth + number + shape.object + shape.array;
  if (kinds > 1) return {{}, "holds values of different types"};
  if (shape.truth) return {"BOOLEAN", {}};
  if (number) return number_type(shape);
  if (shape.object) return struct_type(shape, depth);
  if (!shape.array) return {"VARCHAR", {}};  // text, or nothing but null
  if (shape.element == nullptr) return {"VARCHAR[]", {}};
  if (depth >= kDeepest) return {{}, "is nested more than 30 deep"};
  TypeOrReason element = type_of(*shape.element, depth + 1);
  if (element.reason.empty()) element.type += "[]";
  return element;
}

JsonSchemaColumn column_of(const std::string& key, const JsonShape& shape,
                           std::vector<std::string>& notes) {
  const TypeOrReason found = type_of(shape, 0);
  if (found.reason.empty()) {
    const bool only_null =
        !(shape.text || shape.truth || shape.integer || shape.real || shape.object || shape.array);
    if (only_null)
      notes.push_back(fmt::format("`{}` is null in every record: it was written as text", key));
    if (shape.array && shape.element == nullptr) {
      notes.push_back(
          fmt::format("`{}` holds only empty arrays: they were written as arrays of text", key));
    }
    return {key, found.type, SpoolAs::kValue};
  }
  const bool only_numbers = !(shape.text || shape.truth || shape.object || shape.array);
  notes.push_back(fmt::format("`{}` {}: they were written as {}text", key, found.reason,
                              only_numbers ? "" : "JSON "));
  if (only_numbers) return {key, "VARCHAR", SpoolAs::kText};
  return {key, "JSON", SpoolAs::kJsonText};
}

}  // namespace

std::pair<const std::string*, const std::string*> same_but_for_case(
    std::span<const std::string> names) {
  std::map<std::string, const std::string*> seen;
  for (const std::string& name : names) {
    const auto [at, is_new] = seen.emplace(ascii_lowered(name), &name);
    if (!is_new) return {at->second, &name};
  }
  return {nullptr, nullptr};
}

Status check_parquet_names(std::span<const std::string> names, std::string_view what) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (can_be_named(names[i])) continue;
    return Error{Code::kInvalidArgument,
                 names[i].empty()
                     ? fmt::format("the {} at place {} has no name, which a Parquet column must "
                                   "have (name it)",
                                   what, i + 1)
                     : fmt::format("the {} at place {} has a zero byte in its name, which a "
                                   "Parquet column must not have (rename it)",
                                   what, i + 1)};
  }
  const auto [first, second] = same_but_for_case(names);
  if (first == nullptr) return Done{};
  if (*first == *second) {
    return Error{Code::kInvalidArgument,
                 fmt::format("the {} \"{}\" occurs twice (rename one)", what, *first)};
  }
  return Error{Code::kInvalidArgument,
               fmt::format("the {}s \"{}\" and \"{}\" differ only in case, which Parquet columns "
                           "must not (rename one)",
                           what, *first, *second)};
}

Result<std::vector<JsonSchemaColumn>> json_schema(const JsonShape& records,
                                                  std::vector<std::string>& notes) {
  const std::vector<std::string> keys = keys_of(records);
  if (keys.size() > kMostColumns) {
    return Error{Code::kInvalidArgument,
                 fmt::format("the records have {} different keys, more than the {} that may be "
                             "columns of Parquet (write JSONL)",
                             keys.size(), kMostColumns)};
  }
  KIN_RETURN_IF_ERROR(check_parquet_names(keys, "key"));
  std::vector<JsonSchemaColumn> columns;
  for (const std::string& key : keys)
    columns.push_back(column_of(key, *records.fields.at(key), notes));
  return columns;
}

}  // namespace kin::data
