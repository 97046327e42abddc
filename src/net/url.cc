#include "net/url.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/ascii.h"
#include "text/host_name.h"

namespace kin::net {
namespace {

// White space of HTML: addresses in pages and feeds are surrounded by it.
constexpr std::string_view kSpace = " \t\r\n\f";

// Browsers drop line ends and tabs inside an address: people break lines there.
std::string without_line_ends(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c != '\n' && c != '\r' && c != '\t') out += c;
  }
  return out;
}

std::string escaped(std::string_view part) {
  std::string out;
  for (std::size_t i = 0; i < part.size(); ++i) {
    const char c = part[i];
    const auto byte = static_cast<unsigned char>(c);
    // Spaces and controls would end the address in a request line.
    const bool forbidden = byte <= 0x20 || byte >= 0x7F ||
                           std::string_view("\"<>\\^`{|}").find(c) != std::string_view::npos;
    // A '%' that begins no escape stands for itself, so it is escaped.
    const bool stray_percent = c == '%' && (i + 2 >= part.size() || hex_value(part[i + 1]) < 0 ||
                                            hex_value(part[i + 2]) < 0);
    if (forbidden || stray_percent)
      out += percent_escape(c);
    else
      out += c;
  }
  return out;
}

std::string unescaped(std::string_view part) {
  std::string out;
  for (std::size_t i = 0; i < part.size(); ++i) {
    const bool coded = part[i] == '%' && i + 2 < part.size() && hex_value(part[i + 1]) >= 0 &&
                       hex_value(part[i + 2]) >= 0;
    if (!coded) {
      out += part[i];
      continue;
    }
    out += static_cast<char>(hex_value(part[i + 1]) * 16 + hex_value(part[i + 2]));
    i += 2;
  }
  return out;
}

// The scheme before the first ':', in lower case; empty if there is none.
std::string scheme_of(std::string_view text) {
  if (text.empty() || !is_ascii_alpha(text[0])) return {};
  std::string scheme;
  for (const char c : text) {
    if (c == ':') return scheme;
    if (!is_ascii_alpha(c) && !is_ascii_digit(c) && c != '+' && c != '-' && c != '.') return {};
    scheme += ascii_lower(c);
  }
  return {};
}

bool is_dot(std::string_view segment) {
  return segment == "." || segment == "%2e" || segment == "%2E";
}
bool is_double_dot(std::string_view segment) {
  // The longest spelling is %2e%2e.
  return segment == ".." || (segment.size() <= 6 && unescaped(segment) == "..");
}

std::string without_dots(std::string_view path) {
  std::vector<std::string_view> kept;
  std::size_t at = 1;
  bool ends_in_folder = false;
  while (at <= path.size()) {
    const std::size_t slash = std::min(path.find('/', at), path.size());
    const std::string_view segment = path.substr(at, slash - at);
    ends_in_folder = is_dot(segment) || is_double_dot(segment);
    if (is_double_dot(segment)) {
      if (!kept.empty()) kept.pop_back();
    } else if (!is_dot(segment)) {
      kept.push_back(segment);
    }
    at = slash + 1;
  }
  std::string out;
  for (const std::string_view segment : kept) out.append("/").append(segment);
  // /a/b/.. is the folder /a/, not a file of that name.
  if (ends_in_folder || out.empty()) out += '/';
  return out;
}

Error refusal(std::string_view text, std::string_view why) {
  constexpr std::size_t kShown = 200;
  return {Code::kInvalidArgument, fmt::format("\"{}\": {}", text.substr(0, kShown), why)};
}

bool is_bracketed_address(std::string_view host) {
  return host.size() > 4 && host.front() == '[' && host.back() == ']' &&
         std::all_of(host.begin() + 1, host.end() - 1,
                     [](char c) { return hex_value(c) >= 0 || c == ':' || c == '.'; });
}

std::uint16_t implied_port(std::string_view scheme) {
  return scheme == "https" ? 443 : 80;
}

}  // namespace

Status Url::parse_port(std::string_view digits) {
  port_ = implied_port(scheme_);
  if (digits.empty()) return Done{};
  port_ = parse_number<std::uint16_t>(digits).value_or(0);
  return port_ != 0 ? Status(Done{}) : refusal(digits, "a port is a number from 1 to 65535");
}

Status Url::parse_authority(std::string_view authority) {
  // The last one, as in browsers: a password may contain others.
  const std::size_t at = authority.rfind('@');
  if (at != std::string_view::npos) {
    user_ = unescaped(authority.substr(0, at));
    authority.remove_prefix(at + 1);
  }
  // The colons within [::1] do not begin a port.
  const std::size_t bracket = authority.find(']');
  const std::size_t colon = authority.find(':', bracket == std::string_view::npos ? 0 : bracket);
  host_ = ascii_lowered(authority.substr(0, colon));
  if (!is_bracketed_address(host_)) {
    KIN_TRY(host_, text::host_name_to_ascii(host_));
  }
  return parse_port(colon == std::string_view::npos ? "" : authority.substr(colon + 1));
}

void Url::set_path(std::string_view path) {
  path_ = path.empty() ? "/" : without_dots(escaped(path));
}

void Url::set_rest(std::string_view rest) {
  const std::size_t hash = rest.find('#');
  fragment_ = hash == std::string_view::npos ? "" : escaped(rest.substr(hash + 1));
  rest = rest.substr(0, hash);
  const std::size_t mark = rest.find('?');
  query_ =
      mark == std::string_view::npos ? std::nullopt : std::optional(escaped(rest.substr(mark + 1)));
  set_path(rest.substr(0, mark));
}

Result<Url> Url::parse(std::string_view text) {
  const std::string clean = without_line_ends(trimmed(text, kSpace));
  std::string_view rest = clean;
  if (rest.size() > kLongest) return refusal(rest, "the URL is too long");
  // Some pages link feeds as feed:https://host/ or feed://host/.
  if (scheme_of(rest) == "feed") rest.remove_prefix(5);
  const bool without_scheme = rest.starts_with("//");
  Url url;
  url.scheme_ = without_scheme ? "https" : scheme_of(rest);
  if (url.scheme_ != "http" && url.scheme_ != "https")
    return refusal(clean, "only http:// and https:// URLs can be used");
  if (!without_scheme) rest.remove_prefix(url.scheme_.size() + 1);
  if (!rest.starts_with("//")) return refusal(clean, "the URL has no host");
  rest.remove_prefix(2);
  // Browsers take a backslash for a slash, so the host ends there for us too.
  const std::size_t end = std::min(rest.find_first_of("/?#\\"), rest.size());
  KIN_RETURN_IF_ERROR(url.parse_authority(rest.substr(0, end)));
  rest.remove_prefix(end);
  // http://host?query has the path /.
  const bool needs_slash = !rest.empty() && rest[0] != '/';
  url.set_rest(needs_slash ? "/" + std::string(rest) : std::string(rest));
  return url;
}

Result<Url> Url::resolve(std::string_view reference) const {
  const std::string clean = without_line_ends(trimmed(reference, kSpace));
  if (clean.size() > kLongest) return refusal(clean, "the URL is too long");
  if (clean.starts_with("//")) return parse(scheme_ + ":" + clean);
  if (!scheme_of(clean).empty()) return parse(clean);
  Url url = *this;
  // The credentials of a page do not apply to its links.
  url.user_.clear();
  if (clean.empty() || clean[0] == '#') {
    url.fragment_ = clean.empty() ? "" : escaped(std::string_view(clean).substr(1));
  } else if (clean[0] == '?') {
    url.set_rest(path_ + clean);
  } else if (clean[0] == '/') {
    url.set_rest(clean);
  } else {
    url.set_rest(path_.substr(0, path_.rfind('/') + 1) + clean);
  }
  return url;
}

std::string Url::origin() const {
  std::string out = scheme_;
  out.append("://").append(host_);
  if (port_ != implied_port(scheme_)) out.append(":").append(std::to_string(port_));
  return out;
}

std::string Url::request_text() const {
  return origin() + path_ + (query_ ? "?" + *query_ : "");
}

std::string Url::text() const {
  return request_text() + (fragment_.empty() ? "" : "#" + fragment_);
}

bool is_refused_port(std::uint16_t port) {
  // https://fetch.spec.whatwg.org/#port-blocking
  // Sorted, for the binary search.
  static constexpr std::uint16_t kRefused[] = {
      1,    7,    9,    11,   13,   15,   17,   19,   20,   21,   22,   23,   25,   37,
      42,   43,   53,   69,   77,   79,   87,   95,   101,  102,  103,  104,  109,  110,
      111,  113,  115,  117,  119,  123,  135,  137,  139,  143,  161,  179,  389,  427,
      465,  512,  513,  514,  515,  526,  530,  531,  532,  540,  548,  554,  556,  563,
      587,  601,  636,  989,  990,  993,  995,  1719, 1720, 1723, 2049, 3659, 4045, 4190,
      5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080};
  return std::binary_search(std::begin(kRefused), std::end(kRefused), port);
}

}  // namespace kin::net
