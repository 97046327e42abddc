// Access control: host names, origins, tokens and body types.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
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
  std::string token{};  // empty: none is needed
  // "https://news.example.org": how browsers reach the server through a reverse proxy; may be
  // empty. Its name is accepted in Host, and its origin in requests that change something.
  std::string public_origin{};
  // The tenant whose token this is; nothing if it is nobody's. If set, every request needs the
  // token above or a tenant's.
  std::function<std::optional<std::string>(std::string_view token)> tenant_of{};
  Clock* clock = &system_clock();  // for the delay of wrong tokens
};

// The security header fields of every answer. Thread-safe.
std::vector<net::Header> security_headers();

// The origin of the address that browsers use: "https://news.example.org" of
// "https://news.example.org/". kInvalidArgument unless it is http or https, a host and at most a
// port. Thread-safe.
Result<std::string> parse_public_url(std::string_view url);

// The digest, 32 bytes. Thread-safe.
std::string sha256(std::string_view text);

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
  // The timeline as a feed may be read with the feed token in its address instead: readers cannot
  // send header fields.
  std::optional<Response> check_token_of(const Request& request) { return admit(request).refusal; }
  // The same, and whose request it is.
  struct Admission {
    std::optional<Response> refusal{};
    std::string tenant{};  // see Request::tenant
  };
  Admission admit(const Request& request);
  // The answer to a log-in with `token`: 204 with the cookie, or a refusal.
  Response log_in(const Request& request, std::string_view token);
  // Takes the cookie back.
  Response log_out() const;
  // The token for addresses of the timeline as a feed. It cannot be used for anything else. Empty
  // if no token is needed.
  std::string feed_token() const { return options_.token.empty() ? "" : feed_token_; }
  // Checks the Content-Type of a request that changes something.
  std::optional<Response> check_body(const Request& request, BodyKind body) const;

 private:
  std::optional<Response> check_host(const Request& request) const;
  std::optional<Response> check_site(const Request& request) const;
  Response wrong_token();
  bool needs_token() const { return !options_.token.empty() || options_.tenant_of; }
  // Whether a secret is the one of this digest, which is made of the token. There is none without.
  bool is_own(std::string_view secret, const std::string& digest) const;
  // The header field that sets the cookie.
  net::Header cookie_for(const Request& request) const;

  const GateOptions options_;
  const std::string token_digest_;
  const std::string cookie_;
  const std::string cookie_digest_;
  const std::string feed_token_;
  const std::string feed_token_digest_;
  std::atomic<std::int64_t> failures_{0};
  std::atomic<std::int64_t> last_failure_{0};  // steady clock, seconds
};

}  // namespace kin::server
