// A request without the token, or with the Host of another machine, never passes.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "server/http/gatekeeper.h"
#include "server/page/assets.h"
#include "server/page/site.h"

namespace {

constexpr const char* kToken = "T0ken-that-no-input-holds";

void require(bool truth) {
  if (!truth) std::abort();
}

// "Name: value" lines.
kin::server::Request request_of(std::string_view input) {
  kin::server::Request request{.method = "POST", .target = "/", .path = "/api/v1/feeds"};
  while (!input.empty()) {
    const std::string_view line = input.substr(0, input.find('\n'));
    input.remove_prefix(std::min(input.size(), line.size() + 1));
    if (auto field = kin::net::parse_header_line(line)) request.headers.push_back(*field);
  }
  return request;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kin::server;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (input.find(kToken) != std::string_view::npos) return 0;
  static Gatekeeper guarded({.loopback = false, .tls = true, .token = kToken});
  static Gatekeeper local({});
  const Request request = request_of(input);
  require(guarded.check_token_of(request).has_value());
  if (!local.check_sender(request)) {
    const std::string_view host = request.header("Host");
    require(!host.empty() && std::string_view("lL1[").find(host[0]) != std::string_view::npos);
    const std::string_view origin = request.header("Origin");
    require(origin.empty() || origin.size() == host.size() + std::string_view("http://").size());
  }
  (void)local.check_body(request, BodyKind::kXml);
  (void)takes_gzip(request);
  (void)has_etag(request, "\"tag\"");
  return 0;
}
