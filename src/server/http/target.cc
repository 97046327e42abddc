#include "server/http/target.h"

#include <algorithm>

#include "base/ascii.h"
#include "text/normalize.h"

namespace kin::server {
namespace {

constexpr std::size_t kMostParameters = 64;

Error bad_target(std::string_view what) {
  return {Code::kInvalidArgument, "the request's address " + std::string(what)};
}

enum class Plus { kPlus, kSpace };

Result<std::string> decode(std::string_view text, Plus plus) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus == Plus::kSpace) {
      out += ' ';
    } else if (text[i] != '%') {
      out += text[i];
    } else {
      if (i + 2 >= text.size() || hex_value(text[i + 1]) < 0 || hex_value(text[i + 2]) < 0)
        return bad_target("has a '%' without two hexadecimal digits after it");
      out += static_cast<char>(hex_value(text[i + 1]) * 16 + hex_value(text[i + 2]));
      i += 2;
    }
  }
  if (!text::is_valid_utf8(out)) return bad_target("is not UTF-8");
  return out;
}

Result<std::vector<Parameter>> parse_query(std::string_view query) {
  std::vector<Parameter> out;
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    if (pair.empty()) continue;
    if (out.size() == kMostParameters) return bad_target("has too many parameters");
    const std::size_t equals = std::min(pair.find('='), pair.size());
    KIN_TRY(std::string name, decode(pair.substr(0, equals), Plus::kSpace));
    KIN_TRY(std::string value,
            decode(pair.substr(std::min(equals + 1, pair.size())), Plus::kSpace));
    out.push_back({std::move(name), std::move(value)});
  }
  return out;
}

}  // namespace

Result<Target> parse_target(std::string_view target) {
  if (!target.starts_with('/')) return bad_target("is not a path");
  // Browsers do not send the fragment; other clients may.
  target = target.substr(0, target.find('#'));
  const std::size_t mark = std::min(target.find('?'), target.size());
  Target out;
  KIN_TRY(out.path, decode(target.substr(0, mark), Plus::kPlus));
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  if (std::any_of(out.path.begin(), out.path.end(), is_control))
    return bad_target("has control characters");
  KIN_TRY(out.query, parse_query(target.substr(std::min(mark + 1, target.size()))));
  return out;
}

}  // namespace kin::server
