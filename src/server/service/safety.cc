#include "server/service/safety.h"

#include <fmt/format.h>

#include "net/address.h"
#include "server/http/gatekeeper.h"

namespace kin::server {

Result<bool> check_safety(const Exposure& exposure) {
  const auto address = net::IpAddress::parse(exposure.address);
  if (!address)
    return Error{Code::kInvalidArgument,
                 fmt::format("cannot listen on \"{}\": it is not an IP address", exposure.address)};
  const bool loopback = net::classify(*address) == net::AddressKind::kLoopback;
  if (!exposure.token.empty()) KIN_RETURN_IF_ERROR(check_token(exposure.token));
  // A token without TLS could be read on the way.
  const bool has_token = !exposure.token.empty() || exposure.has_tenants;
  if (loopback || (has_token && exposure.has_tls)) return loopback;
  return Error{
      Code::kInvalidArgument,
      fmt::format("{} can be reached by other machines, so a token and TLS are both needed: "
                  "--token-file FILE --tls-cert FILE --tls-key FILE (or listen on 127.0.0.1)",
                  exposure.address)};
}

std::string url_of(const Exposure& exposure, std::uint16_t port) {
  const std::string& address = exposure.address;
  return fmt::format("{}://{}:{}/", exposure.has_tls ? "https" : "http",
                     // An IPv6 address needs brackets in a URL.
                     address.find(':') == std::string::npos ? address : "[" + address + "]", port);
}

}  // namespace kin::server
