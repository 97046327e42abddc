#include "net/address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>

#include "base/ascii.h"

namespace kin::net {
namespace {

struct Block {
  const char* network;
  int bits;
  AddressKind kind;
};

// The IANA special-purpose registries, and the metadata services of clouds. The first block that
// contains an address decides.
constexpr Block kBlocks4[] = {
    {"169.254.169.254", 32, AddressKind::kMetadata},  // AWS, Google, Azure and others
    {"169.254.170.2", 32, AddressKind::kMetadata},    // AWS containers
    {"100.100.100.200", 32, AddressKind::kMetadata},  // Alibaba
    {"168.63.129.16", 32, AddressKind::kMetadata},    // Azure
    {"192.0.0.192", 32, AddressKind::kMetadata},      // Oracle
    {"0.0.0.0", 8, AddressKind::kUnspecified},       {"10.0.0.0", 8, AddressKind::kPrivate},
    {"100.64.0.0", 10, AddressKind::kSharedCarrier}, {"127.0.0.0", 8, AddressKind::kLoopback},
    {"169.254.0.0", 16, AddressKind::kLinkLocal},    {"172.16.0.0", 12, AddressKind::kPrivate},
    {"192.0.0.0", 24, AddressKind::kReserved},       {"192.0.2.0", 24, AddressKind::kReserved},
    {"192.88.99.0", 24, AddressKind::kReserved},     {"192.168.0.0", 16, AddressKind::kPrivate},
    {"198.18.0.0", 15, AddressKind::kReserved},      {"198.51.100.0", 24, AddressKind::kReserved},
    {"203.0.113.0", 24, AddressKind::kReserved},     {"224.0.0.0", 4, AddressKind::kMulticast},
    {"240.0.0.0", 4, AddressKind::kReserved},
};
constexpr Block kBlocks6[] = {
    {"::", 128, AddressKind::kUnspecified},
    {"::1", 128, AddressKind::kLoopback},
    {"fd00:ec2::254", 128, AddressKind::kMetadata},  // AWS
    {"fd20:ce::254", 128, AddressKind::kMetadata},   // Google
    {"64:ff9b:1::", 48, AddressKind::kPrivate},      // NAT64 of local use
    {"fc00::", 7, AddressKind::kPrivate},
    {"fec0::", 10, AddressKind::kPrivate},
    {"fe80::", 10, AddressKind::kLinkLocal},
    {"ff00::", 8, AddressKind::kMulticast},
    {"2001::", 23, AddressKind::kReserved},  // Teredo, benchmarking, ORCHID
    {"2001:db8::", 32, AddressKind::kReserved},
    {"3fff::", 20, AddressKind::kReserved},
    // The rest of IPv6 is not assigned: classify() calls it reserved.
    {"2000::", 3, AddressKind::kPublic},
};

// Where an IPv6 address carries an IPv4 one.
struct Carrier {
  const char* network;
  int bits;
  std::size_t at;  // byte
};
constexpr Carrier kCarriers[] = {
    {"::ffff:0:0", 96, 12},    // mapped
    {"::ffff:0:0:0", 96, 12},  // translated
    {"::", 96, 12},            // compatible
    {"64:ff9b::", 96, 12},     // NAT64
    {"2002::", 16, 2},         // 6to4
};

bool same_start(const std::uint8_t* a, const std::uint8_t* b, int bits) {
  const auto whole = static_cast<std::size_t>(bits / 8);
  if (std::memcmp(a, b, whole) != 0) return false;
  if (bits % 8 == 0) return true;
  // Only the upper bits of the last byte belong to the network.
  const int mask = 0xFF << (8 - bits % 8);
  return ((a[whole] ^ b[whole]) & mask) == 0;
}

struct ParsedBlock {
  Network network;
  AddressKind kind;
};

template <std::size_t N>
std::vector<ParsedBlock> parsed(const Block (&blocks)[N]) {
  std::vector<ParsedBlock> out;
  for (const Block& block : blocks)
    out.push_back({{*IpAddress::parse(block.network), block.bits}, block.kind});
  return out;
}

AddressKind kind_in(const std::vector<ParsedBlock>& blocks, const IpAddress& address,
                    AddressKind otherwise) {
  for (const ParsedBlock& block : blocks) {
    if (block.network.contains(address)) return block.kind;
  }
  return otherwise;
}

std::optional<IpAddress> carried(const IpAddress& address) {
  static const std::vector<Network> networks = [] {
    std::vector<Network> parsed_networks;
    for (const Carrier& carrier : kCarriers)
      parsed_networks.push_back({*IpAddress::parse(carrier.network), carrier.bits});
    return parsed_networks;
  }();
  for (std::size_t i = 0; i < networks.size(); ++i) {
    if (!networks[i].contains(address)) continue;
    return IpAddress::v4(std::span(address.bytes()).subspan(kCarriers[i].at).first<4>());
  }
  return std::nullopt;
}

}  // namespace

IpAddress IpAddress::v4(std::span<const std::uint8_t, 4> bytes) {
  IpAddress address;
  address.v4_ = true;
  std::ranges::copy(bytes, address.bytes_.begin() + 12);
  return address;
}

std::optional<IpAddress> IpAddress::parse(std::string_view text) {
  // inet_pton() reads up to a NUL.
  const std::string terminated(text);
  IpAddress address;
  if (inet_pton(AF_INET6, terminated.c_str(), address.bytes_.data()) == 1) return address;
  // A failed attempt may have left bytes behind.
  address = {};
  address.v4_ = true;
  if (inet_pton(AF_INET, terminated.c_str(), address.bytes_.data() + 12) == 1) return address;
  return std::nullopt;
}

std::optional<IpAddress> IpAddress::from(const sockaddr& address) {
  IpAddress out;
  if (address.sa_family == AF_INET) {
    out.v4_ = true;
    std::memcpy(out.bytes_.data() + 12, &reinterpret_cast<const sockaddr_in&>(address).sin_addr, 4);
    return out;
  }
  if (address.sa_family != AF_INET6) return std::nullopt;
  std::memcpy(out.bytes_.data(), &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr, 16);
  return out;
}

std::string IpAddress::text() const {
  char out[INET6_ADDRSTRLEN] = {};
  const void* from = v4_ ? bytes_.data() + 12 : bytes_.data();
  inet_ntop(v4_ ? AF_INET : AF_INET6, from, out, sizeof out);
  return out;
}

Result<Network> Network::parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto address = IpAddress::parse(text.substr(0, slash));
  const int most = address && address->is_v4() ? 32 : 128;
  int bits = most;
  bool valid = address.has_value();
  if (slash != std::string_view::npos) {
    bits = parse_number<int>(text.substr(slash + 1)).value_or(-1);
    valid = valid && bits >= 0 && bits <= most;
  }
  if (!valid)
    return Error{Code::kInvalidArgument,
                 fmt::format("\"{}\" is not a network (write it like 10.0.0.0/8 or fd00::/8)",
                             text.substr(0, 100))};
  return Network{*address, bits};
}

bool Network::contains(const IpAddress& other) const {
  if (address.is_v4() != other.is_v4()) return false;
  const std::size_t skip = address.is_v4() ? 12 : 0;
  return same_start(address.bytes().data() + skip, other.bytes().data() + skip, bits);
}

std::string_view name_of(AddressKind kind) {
  switch (kind) {
    case AddressKind::kPublic: return "a public address";
    case AddressKind::kUnspecified: return "the unspecified address";
    case AddressKind::kLoopback: return "a loopback address";
    case AddressKind::kPrivate: return "a private address";
    case AddressKind::kSharedCarrier: return "an address of carrier-grade NAT";
    case AddressKind::kLinkLocal: return "a link-local address";
    case AddressKind::kMetadata: return "a cloud's metadata address";
    case AddressKind::kMulticast: return "a multicast address";
    case AddressKind::kReserved: return "a reserved address";
  }
  KIN_UNREACHABLE();
}

AddressKind classify(const IpAddress& address) {
  // Parsed once: every socket that is opened asks.
  static const std::vector<ParsedBlock> four = parsed(kBlocks4);
  static const std::vector<ParsedBlock> six = parsed(kBlocks6);
  if (address.is_v4()) return kind_in(four, address, AddressKind::kPublic);
  // Both lie within ::/96, but carry no IPv4 address.
  const bool own_meaning =
      address == *IpAddress::parse("::") || address == *IpAddress::parse("::1");
  const auto inside = own_meaning ? std::nullopt : carried(address);
  if (inside) return kind_in(four, *inside, AddressKind::kPublic);
  return kind_in(six, address, AddressKind::kReserved);
}

bool AddressPolicy::permits(const IpAddress& address) const {
  // `allowed` may name private networks; it never takes a public address away.
  if (allow_all || classify(address) == AddressKind::kPublic) return true;
  return std::any_of(allowed.begin(), allowed.end(),
                     [&](const Network& network) { return network.contains(address); });
}

}  // namespace kin::net
