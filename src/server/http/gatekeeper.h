// Who may ask, and from where.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "server/http/routes.h"

namespace kin::server {

struct GateOptions {
  // Only names of this machine may stand in Host, so that no site can make a browser take its own
  // name for this machine (DNS rebinding).
  bool loopback = true;
  bool tls = false;
  std::string token{};  // empty if none is asked for
};

// Header fields for every answer: what browsers may do with it. Thread-safe.
std::vector<net::Header> security_headers();

// A token that is long enough not to be guessed: 16 characters at least, of letters, digits and
// "-._~+/=". Thread-safe.
Status check_token(std::string_view token);

// Thread-safe.
class Gatekeeper {
 public:
  explicit Gatekeeper(GateOptions options);

  // Each says why the request is not let in, or where it is sent instead; nothing if it may pass.
  // Names and sites: for every request.
  std::optional<Response> check_sender(const Request& request) const;
  // The token: for what is not open to everybody, and for "/", which takes one to give a cookie.
  std::optional<Response> check_token_of(const Request& request);
  // The kind of body, where something changes.
  std::optional<Response> check_body(const Request& request, BodyKind body) const;

 private:
  std::optional<Response> check_host(const Request& request) const;
  std::optional<Response> check_site(const Request& request) const;
  Response wrong_token();

  const GateOptions options_;
  const std::string token_digest_;
  const std::string cookie_;
  const std::string cookie_digest_;
  std::atomic<std::int64_t> failures_{0};
  std::atomic<std::int64_t> last_failure_{0};  // steady clock, seconds
};

}  // namespace kin::server
