// Access control: host names, origins, tokens and body types.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "server/http/routes.h"

namespace kin::server {

struct GateOptions {
  // Accept only names of this machine in Host. This stops DNS rebinding: a site that points its own
  // name at this machine.
  bool loopback = true;
  bool tls = false;
  std::string token{};             // empty: none is needed
  Clock* clock = &system_clock();  // for the delay of wrong tokens
};

// The security header fields of every answer. Thread-safe.
std::vector<net::Header> security_headers();

// kInvalidArgument unless the token has at least 16 characters, all of them letters, digits or
// "-._~+/=". Thread-safe.
Status check_token(std::string_view token);

// Thread-safe.
class Gatekeeper {
 public:
  explicit Gatekeeper(GateOptions options);

  // Each check returns the refusal or redirect to send, or nothing if the request may pass.
  // Checks Host and Origin. For every request.
  std::optional<Response> check_sender(const Request& request) const;
  // Checks the token. For every route that is not open, and for "/?token=…", which sets the cookie.
  std::optional<Response> check_token_of(const Request& request);
  // Checks the Content-Type of a request that changes something.
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
