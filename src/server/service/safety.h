// Which addresses may be served without a token and TLS.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kin::server {

struct Exposure {
  std::string address = {};  // IPv4 or IPv6, without brackets
  std::string token = {};    // empty: none
  bool has_tls = false;
  bool has_tenants = false;  // who have tokens of their own
};

// Whether the address is a loopback address. kInvalidArgument if it is not an address, if the token
// is too weak, and if other machines can reach the address and token or TLS is missing.
// Thread-safe.
Result<bool> check_safety(const Exposure& exposure);

// "http://127.0.0.1:8722/". Thread-safe.
std::string url_of(const Exposure& exposure, std::uint16_t port);

}  // namespace kin::server
