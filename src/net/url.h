// Addresses of the web: http and https, and nothing else.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kin::net {

// An absolute http or https address. Scheme and host are in lower case, a port that the scheme
// implies is left out, the path starts with '/' and has no dot segments, and what may not stand in
// an address (spaces, quotes, angle brackets, controls, bytes that are not ASCII) is written in
// percent form: text() can go into a request line or an attribute as it is. A host that is not
// ASCII is kept as UTF-8; the HTTP client turns it into its IDNA form. Thread-compatible.
class Url {
 public:
  // Longer ones are refused.
  static constexpr std::size_t kLongest = 8192;

  // White space around `text` does not count. "feed:" in front of an address is ignored, and an
  // address that starts with "//" is taken as https.
  static Result<Url> parse(std::string_view text);

  // `reference` as a browser would follow it from here (RFC 3986, section 5.2): an absolute
  // address, or one relative to this. An error if it leads to anything but http or https.
  Result<Url> resolve(std::string_view reference) const;

  const std::string& scheme() const { return scheme_; }
  const std::string& user() const { return user_; }  // with the password: "user:password", decoded
  const std::string& host() const { return host_; }  // an IPv6 address in its brackets
  std::uint16_t port() const { return port_; }       // what the scheme implies where none is given
  const std::string& path() const { return path_; }
  const std::optional<std::string>& query() const { return query_; }
  const std::string& fragment() const { return fragment_; }
  bool secure() const { return scheme_ == "https"; }

  // "https://host:8443", of which credentials are for.
  std::string origin() const;
  // The whole address without user, password and fragment: what a server is asked for.
  std::string request_text() const;
  // The whole address without user and password.
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

// Ports of services that are not the web, which no browser will speak HTTP to. Thread-safe.
bool is_refused_port(std::uint16_t port);

}  // namespace kin::net
