// DuckDB's names of types, taken apart.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace kin::data {

// `type` with each name of a plain type in it, nested ones too, replaced by what `replace` makes
// of it. Names of fields, which may look like types, stay as they are. "TIMESTAMP WITH TIME ZONE"
// is one name.
std::string replace_types(const std::string& type,
                          const std::function<std::string(std::string_view)>& replace);

// True for types that hold others: struct, list, array, map, union.
bool is_nested(const std::string& type);

}  // namespace kin::data
