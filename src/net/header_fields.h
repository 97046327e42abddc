// HTTP header fields. All functions are thread-safe and accept any text that a server may send.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kin::net {

struct Header {
  std::string name;
  std::string value;
  friend bool operator==(const Header&, const Header&) = default;
};

// The last value of the field `name`, in upper or lower case; nothing if there is none.
std::optional<std::string_view> find_header(const std::vector<Header>& headers,
                                            std::string_view name);

// Parses a line of a header, without its end. Nothing for a status line or an empty line.
std::optional<Header> parse_header_line(std::string_view line);

struct ContentType {
  std::string type;     // "text/html", in lower case; empty if `value` has no type
  std::string charset;  // as written; may be empty
  friend bool operator==(const ContentType&, const ContentType&) = default;
};
ContentType parse_content_type(std::string_view value);

struct CacheControl {
  std::optional<std::chrono::seconds> max_age;
  bool no_store = false;
  friend bool operator==(const CacheControl&, const CacheControl&) = default;
};
CacheControl parse_cache_control(std::string_view value);

// "Sun, 06 Nov 1994 08:49:37 GMT", the one form that servers write today. Nothing for other text.
std::optional<std::chrono::sys_seconds> parse_http_date(std::string_view value);

}  // namespace kin::net
