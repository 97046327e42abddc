// IP addresses, and which of them the client may connect to.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

struct sockaddr;

namespace kin::net {

// An IPv4 or IPv6 address. Thread-compatible.
class IpAddress {
 public:
  // "192.0.2.1" or "2001:db8::1", without brackets or zone.
  static std::optional<IpAddress> parse(std::string_view text);
  // Nothing for other families than IPv4 and IPv6.
  static std::optional<IpAddress> from(const sockaddr& address);
  static IpAddress v4(std::span<const std::uint8_t, 4> bytes);

  bool is_v4() const { return v4_; }
  // 16 bytes; an IPv4 address is in the last four.
  const std::array<std::uint8_t, 16>& bytes() const { return bytes_; }
  std::string text() const;

  friend bool operator==(const IpAddress&, const IpAddress&) = default;

 private:
  std::array<std::uint8_t, 16> bytes_{};
  bool v4_ = false;
};

// The addresses whose first `bits` bits are those of `address`.
struct Network {
  IpAddress address;
  int bits = 0;

  // "10.0.0.0/8", or one address.
  static Result<Network> parse(std::string_view text);
  bool contains(const IpAddress& other) const;
};

enum class AddressKind {
  kPublic,
  kUnspecified,  // 0.0.0.0/8, ::
  kLoopback,
  kPrivate,        // 10/8, 172.16/12, 192.168/16, fc00::/7, site-local
  kSharedCarrier,  // 100.64/10
  kLinkLocal,
  kMetadata,  // metadata services of clouds
  kMulticast,
  kReserved,  // documentation, benchmarking, broadcast, tunnels, and unassigned addresses
};

// "a loopback address" and so on, for messages.
std::string_view name_of(AddressKind kind);

// The kind of `address`. An IPv6 address that contains an IPv4 address (mapped, compatible, NAT64,
// 6to4) has the kind of that one. Thread-safe.
AddressKind classify(const IpAddress& address);

// Permits public addresses and the networks listed. Thread-compatible.
struct AddressPolicy {
  bool allow_all = false;
  std::vector<Network> allowed = {};

  bool permits(const IpAddress& address) const;
};

}  // namespace kin::net
