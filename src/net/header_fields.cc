#include "net/header_fields.h"

#include <algorithm>
#include <charconv>

#include "base/ascii.h"

namespace kin::net {
namespace {

// RFC 9110's token characters.
bool is_token(std::string_view text) {
  constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return is_ascii_alpha(c) || is_ascii_digit(c) || kOthers.find(c) != std::string_view::npos;
  });
}

struct Parameter {
  std::string name;
  std::string value;
};

// Takes "name=value" or "name" off the front of `rest`, up to `separator`; a value may be quoted.
Parameter next_parameter(std::string_view& rest, char separator) {
  Parameter parameter;
  const char stops[] = {separator, '='};
  const std::size_t end = std::min(rest.find_first_of(std::string_view(stops, 2)), rest.size());
  parameter.name = ascii_lowered(trimmed(rest.substr(0, end)));
  rest.remove_prefix(end);
  if (!rest.starts_with('=')) {
    rest.remove_prefix(std::min<std::size_t>(1, rest.size()));
    return parameter;
  }
  rest.remove_prefix(1);
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
  const bool quoted = rest.starts_with('"');
  if (quoted) rest.remove_prefix(1);
  std::size_t at = 0;
  for (; at < rest.size() && rest[at] != (quoted ? '"' : separator); ++at) {
    // RFC 9110, 5.6.4: a backslash in quotes stands for the character after it.
    if (quoted && rest[at] == '\\' && at + 1 < rest.size()) ++at;
    parameter.value += rest[at];
  }
  rest.remove_prefix(at);
  // Text between a closing quote and the separator is not valid and is skipped.
  rest.remove_prefix(std::min(rest.find(separator), rest.size()));
  rest.remove_prefix(std::min<std::size_t>(1, rest.size()));
  if (!quoted) parameter.value = trimmed(parameter.value);
  return parameter;
}

}  // namespace

std::optional<std::string_view> find_header(const std::vector<Header>& headers,
                                            std::string_view name) {
  const auto found = std::find_if(headers.rbegin(), headers.rend(),
                                  [&](const Header& h) { return same_but_for_case(h.name, name); });
  if (found == headers.rend()) return std::nullopt;
  return found->value;
}

std::optional<Header> parse_header_line(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) return std::nullopt;
  return Header{std::string(line.substr(0, colon)), std::string(trimmed(line.substr(colon + 1)))};
}

ContentType parse_content_type(std::string_view value) {
  ContentType out;
  std::string_view rest = value;
  const std::size_t end = std::min(rest.find(';'), rest.size());
  const std::string type = ascii_lowered(trimmed(rest.substr(0, end)));
  const std::size_t slash = type.find('/');
  const bool valid = slash != std::string::npos &&
                     is_token(std::string_view(type).substr(0, slash)) &&
                     is_token(std::string_view(type).substr(slash + 1));
  if (valid) out.type = type;
  rest.remove_prefix(std::min(end + 1, rest.size()));
  while (!rest.empty()) {
    Parameter parameter = next_parameter(rest, ';');
    // The first charset counts, as in browsers.
    if (parameter.name == "charset" && out.charset.empty())
      out.charset = std::move(parameter.value);
  }
  return out;
}

CacheControl parse_cache_control(std::string_view value) {
  CacheControl out;
  while (!value.empty()) {
    const Parameter parameter = next_parameter(value, ',');
    if (parameter.name == "no-store") out.no_store = true;
    // The first max-age counts (RFC 9111, 4.2.1).
    if (parameter.name != "max-age" || out.max_age) continue;
    std::int64_t seconds = -1;
    const char* const end = parameter.value.data() + parameter.value.size();
    const auto [at, error] = std::from_chars(parameter.value.data(), end, seconds);
    // RFC 9111, 1.2.2: an age that is too large counts as 2^31 seconds.
    constexpr std::int64_t kLongest = std::int64_t{1} << 31;
    if (error == std::errc::result_out_of_range) seconds = kLongest;
    if (at == end && seconds >= 0) out.max_age = std::chrono::seconds(std::min(seconds, kLongest));
  }
  return out;
}

std::optional<std::chrono::sys_seconds> parse_http_date(std::string_view value) {
  using namespace std::chrono;
  constexpr std::string_view kForm = "Sun, 06 Nov 1994 08:49:37 GMT";
  constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  if (value.size() != kForm.size() || value.substr(26) != "GMT" || value.substr(3, 2) != ", ")
    return std::nullopt;
  // A field that is not a number becomes a value above every valid one; day() wraps above 255.
  const auto number = [&](std::size_t at, std::size_t digits) {
    return parse_number<unsigned>(value.substr(at, digits)).value_or(99);
  };
  const std::size_t month = kMonths.find(value.substr(8, 3));
  const auto in_year = parse_number<std::uint16_t>(value.substr(12, 4));
  if (month % 3 != 0 || !in_year) return std::nullopt;
  const year_month_day date{
      year(*in_year), std::chrono::month(static_cast<unsigned>(month / 3 + 1)), day(number(5, 2))};
  const unsigned clock[] = {number(17, 2), number(20, 2), number(23, 2)};
  if (!date.ok() || clock[0] > 23 || clock[1] > 59 || clock[2] > 60) return std::nullopt;
  return sys_days(date) + hours(clock[0]) + minutes(clock[1]) + seconds(clock[2]);
}

}  // namespace kin::net
