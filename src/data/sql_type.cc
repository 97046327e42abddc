#include "data/sql_type.h"

#include <algorithm>
#include <vector>

namespace kin::data {
namespace {

bool ends_word(char c) {
  return c == '(' || c == ')' || c == ',' || c == '[' || c == ']' || c == '"';
}

// Behind the quoted name at `at`.
std::size_t skip_name(const std::string& type, std::size_t at) {
  for (++at; at < type.size(); ++at) {
    if (type[at] != '"') continue;
    if (at + 1 == type.size() || type[at + 1] != '"') return at + 1;
    ++at;
  }
  return at;
}

}  // namespace

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
