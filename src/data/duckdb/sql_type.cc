#include "data/duckdb/sql_type.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "data/duckdb/session.h"

namespace kin::data {
namespace {

bool ends_word(char c) {
  return c == '(' || c == ')' || c == ',' || c == '[' || c == ']' || c == '"';
}

// The position after the quoted name at `at`.
std::size_t skip_name(std::string_view type, std::size_t at) {
  for (++at; at < type.size(); ++at) {
    if (type[at] != '"') continue;
    if (at + 1 == type.size() || type[at + 1] != '"') return at + 1;
    ++at;
  }
  return at;
}

// The elements between the brackets of "STRUCT(…)" and the like, split at commas.
std::vector<std::string_view> elements(std::string_view inside) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t at = 0; at < inside.size();) {
    if (inside[at] == '"') {
      at = skip_name(inside, at);
      continue;
    }
    if (inside[at] == '(') ++depth;
    if (inside[at] == ')') --depth;
    if (inside[at] == ',' && depth == 0) {
      parts.push_back(inside.substr(begin, at - begin));
      begin = at + 1;
    }
    ++at;
  }
  parts.push_back(inside.substr(begin));
  for (std::string_view& part : parts) {
    if (part.starts_with(' ')) part.remove_prefix(1);
  }
  return parts;
}

void add_field(SqlType& type, std::string_view field) {
  if (!field.starts_with('"')) {
    const std::size_t space = std::min(field.find(' '), field.size());
    type.names.emplace_back(field.substr(0, space));
    type.inner.push_back(parse_type(field.substr(std::min(space + 1, field.size()))));
    return;
  }
  const std::size_t end = skip_name(field, 0);
  std::string name;
  for (std::size_t at = 1; at + 1 < end; ++at) {
    name += field[at];
    if (field[at] == '"') ++at;
  }
  type.names.push_back(std::move(name));
  type.inner.push_back(parse_type(field.substr(std::min(end + 1, field.size()))));
}

}  // namespace

SqlType parse_type(std::string_view type) {
  constexpr std::string_view kStruct = "STRUCT(";
  constexpr std::string_view kMap = "MAP(";
  SqlType tree;
  tree.text = type;
  if (type.ends_with(']')) {
    tree.kind = SqlType::Kind::kList;
    tree.inner.push_back(parse_type(type.substr(0, type.rfind('['))));
  } else if (type.starts_with(kStruct)) {
    tree.kind = SqlType::Kind::kStruct;
    type.remove_prefix(kStruct.size());
    for (const auto field : elements(type.substr(0, type.size() - 1))) add_field(tree, field);
  } else if (type.starts_with(kMap)) {
    tree.kind = SqlType::Kind::kMap;
    type.remove_prefix(kMap.size());
    for (const auto one : elements(type.substr(0, type.size() - 1)))
      tree.inner.push_back(parse_type(one));
  }
  return tree;
}

std::string replace_values(
    const std::string& expression, const SqlType& type,
    const std::function<std::string(const std::string&, const std::string&)>& replace) {
  // An outer type is longer than an inner one, so inner names never hide outer ones.
  const std::string element = fmt::format("kin_element_{}", type.text.size());
  switch (type.kind) {
    case SqlType::Kind::kPlain: return replace(expression, type.text);
    case SqlType::Kind::kList: {
      const std::string inner = replace_values(element, type.inner[0], replace);
      if (inner == element) return expression;
      return fmt::format("list_transform({}, lambda {}: {})", expression, element, inner);
    }
    case SqlType::Kind::kMap: {
      const std::string value = element + ".value";
      const std::string inner = replace_values(value, type.inner.back(), replace);
      if (inner == value) return expression;
      return fmt::format(
          "map_from_entries(list_transform(map_entries({0}), lambda {1}: struct_pack(k := {1}.key, "
          "v := {2})))",
          expression, element, inner);
    }
    case SqlType::Kind::kStruct: break;
  }
  std::vector<std::string> fields;
  bool same = true;
  for (std::size_t i = 0; i < type.inner.size(); ++i) {
    const std::string field =
        fmt::format("struct_extract({}, {})", expression, sql_text(type.names[i]));
    const std::string inner = replace_values(field, type.inner[i], replace);
    same = same && inner == field;
    fields.push_back(fmt::format("{} := {}", sql_name(type.names[i]), inner));
  }
  if (same) return expression;
  return fmt::format("CASE WHEN {} IS NOT NULL THEN struct_pack({}) END", expression,
                     fmt::join(fields, ", "));
}

std::string replace_types(const std::string& type,
                          const std::function<std::string(std::string_view)>& replace) {
  std::string result;
  std::vector<bool> has_names;  // for each open bracket: are its elements named?
  bool name_comes = false;
  for (std::size_t at = 0; at < type.size();) {
    const char c = type[at];
    std::size_t end = at + 1;
    if (c == '"') {
      end = skip_name(type, at);
      name_comes = false;
    } else if (c == '(') {
      const bool named = result.ends_with("STRUCT") || result.ends_with("UNION");
      has_names.push_back(named);
      name_comes = named;
    } else if (c == ')') {
      if (!has_names.empty()) has_names.pop_back();
    } else if (c == ',') {
      name_comes = !has_names.empty() && has_names.back();
    } else if (c != ' ' && c != '[' && c != ']') {
      while (end < type.size() && !ends_word(type[end]) && !(name_comes && type[end] == ' ')) ++end;
      const std::string_view word(type.data() + at, end - at);
      result += name_comes || word == "STRUCT" || word == "UNION" || word == "MAP"
                    ? std::string(word)
                    : replace(word);
      name_comes = false;
      at = end;
      continue;
    }
    result.append(type, at, end - at);
    at = end;
  }
  return result;
}

bool is_nested(const std::string& type) {
  return type.ends_with(']') || type.starts_with("STRUCT(") || type.starts_with("MAP(") ||
         type.starts_with("UNION(");
}

}  // namespace kin::data
