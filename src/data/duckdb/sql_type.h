// Parses DuckDB's names of types.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace kin::data {

// `type` with each name of a plain type in it, nested ones too, replaced by `replace`. Names
// of fields, which may look like types, stay as they are. "TIMESTAMP WITH TIME ZONE" is one
// name.
std::string replace_types(const std::string& type,
                          const std::function<std::string(std::string_view)>& replace);

// A type as a tree.
struct SqlType {
  enum class Kind { kPlain, kStruct, kList, kMap };
  Kind kind = Kind::kPlain;
  std::string text;                // all of it
  std::vector<std::string> names;  // of the fields of a struct
  std::vector<SqlType> inner;      // the fields, the element, or the key and the value
};

// Types that Parquet does not have, such as unions, come out as plain ones.
SqlType parse_type(std::string_view type);

// An expression for the value of `expression`, of type `type`, in which each plain value except
// keys of maps is replaced by `replace(expression, type)`. `replace` returns its first argument for
// values that stay; a value in which nothing is replaced is used as a whole.
std::string replace_values(
    const std::string& expression, const SqlType& type,
    const std::function<std::string(const std::string&, const std::string&)>& replace);

// True for types that hold others: struct, list, array, map, union.
bool is_nested(const std::string& type);

}  // namespace kin::data
