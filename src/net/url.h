// URLs: http and https, and nothing else.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kin::net {

// An absolute http or https URL, written one way: scheme and host in lower case, an international
// host name in its ASCII form (punycode), no port that the scheme implies, a path that starts with
// '/' and has no dot segments, and percent codes for characters that may not stand in a URL
// (spaces, quotes, angle brackets, controls, bytes that are not ASCII). So text() is pure ASCII and
// can go into a request line or an attribute as it is. Thread-compatible.
class Url {
 public:
  // Longer ones are refused.
  static constexpr std::size_t kLongest = 8192;

  // White space around `text` and "feed:" in front of it are ignored. Text that starts with "//" is
  // read as https.
  static Result<Url> parse(std::string_view text);

  // The URL of a link on the page at this URL (RFC 3986, section 5.2); `reference` is absolute or
  // relative. An error if it leads to anything but http or https.
  Result<Url> resolve(std::string_view reference) const;

  const std::string& scheme() const { return scheme_; }
  const std::string& user() const { return user_; }  // "user:password", decoded
  const std::string& host() const { return host_; }  // an IPv6 address has its brackets
  std::uint16_t port() const { return port_; }       // the scheme's if the URL has none
  const std::string& path() const { return path_; }
  const std::optional<std::string>& query() const { return query_; }
  const std::string& fragment() const { return fragment_; }
  bool secure() const { return scheme_ == "https"; }

  // The origin that credentials are scoped to: "https://host:8443".
  std::string origin() const;
  // The URL without user, password and fragment: what is sent to a server.
  std::string request_text() const;
  // The URL without user and password.
  std::string text() const;

  friend bool operator==(const Url&, const Url&) = default;

 private:
  Status parse_authority(std::string_view authority);
  Status parse_port(std::string_view digits);
  void set_path(std::string_view path);
  // The parts after the authority.
  void set_rest(std::string_view rest);

  std::string scheme_;
  std::string user_;
  std::string host_;
  std::uint16_t port_ = 0;
  std::string path_;
  std::optional<std::string> query_;
  std::string fragment_;
};

// True for ports of other protocols, which browsers refuse for HTTP. Thread-safe.
bool is_refused_port(std::uint16_t port);

}  // namespace kin::net
