#include "net/address.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

namespace kin::net {
namespace {

TEST(AddressKind, IsKnownForEveryBlock) {
  using K = AddressKind;
  const std::pair<const char*, AddressKind> cases[] = {
      {"8.8.8.8", K::kPublic},
      {"1.1.1.1", K::kPublic},
      {"9.255.255.255", K::kPublic},
      {"11.0.0.0", K::kPublic},
      {"172.15.255.255", K::kPublic},
      {"172.32.0.0", K::kPublic},
      {"192.167.255.255", K::kPublic},
      {"100.63.255.255", K::kPublic},
      {"100.128.0.0", K::kPublic},
      {"223.255.255.255", K::kPublic},
      {"0.0.0.0", K::kUnspecified},
      {"0.1.2.3", K::kUnspecified},
      {"127.0.0.1", K::kLoopback},
      {"127.255.255.254", K::kLoopback},
      {"10.0.0.1", K::kPrivate},
      {"10.255.255.255", K::kPrivate},
      {"172.16.0.1", K::kPrivate},
      {"172.31.255.255", K::kPrivate},
      {"192.168.1.1", K::kPrivate},
      {"100.64.0.1", K::kSharedCarrier},
      {"100.127.255.255", K::kSharedCarrier},
      {"169.254.1.1", K::kLinkLocal},
      {"169.254.169.254", K::kMetadata},
      {"169.254.170.2", K::kMetadata},
      {"100.100.100.200", K::kMetadata},
      {"168.63.129.16", K::kMetadata},
      {"192.0.0.192", K::kMetadata},
      {"192.0.0.8", K::kReserved},
      {"192.0.2.1", K::kReserved},
      {"198.18.0.1", K::kReserved},
      {"198.19.255.255", K::kReserved},
      {"198.51.100.7", K::kReserved},
      {"203.0.113.7", K::kReserved},
      {"192.88.99.1", K::kReserved},
      {"224.0.0.1", K::kMulticast},
      {"239.255.255.255", K::kMulticast},
      {"240.0.0.1", K::kReserved},
      {"255.255.255.255", K::kReserved},
      {"2606:4700:4700::1111", K::kPublic},
      {"2a00:1450:4001::1", K::kPublic},
      {"::", K::kUnspecified},
      {"::1", K::kLoopback},
      {"fe80::1", K::kLinkLocal},
      {"febf::1", K::kLinkLocal},
      {"fec0::1", K::kPrivate},
      {"fc00::1", K::kPrivate},
      {"fdff::1", K::kPrivate},
      {"fd00:ec2::254", K::kMetadata},
      {"ff02::1", K::kMulticast},
      {"2001:db8::1", K::kReserved},
      {"2001::1", K::kReserved},
      {"3fff::1", K::kReserved},
      {"100::1", K::kReserved},
      {"4000::1", K::kReserved},
      {"::ffff:127.0.0.1", K::kLoopback},
      {"::ffff:10.1.2.3", K::kPrivate},
      {"::ffff:169.254.169.254", K::kMetadata},
      {"::ffff:8.8.8.8", K::kPublic},
      {"::ffff:0:127.0.0.1", K::kLoopback},
      {"::127.0.0.1", K::kLoopback},
      {"::2", K::kUnspecified},
      {"64:ff9b::127.0.0.1", K::kLoopback},
      {"64:ff9b::8.8.8.8", K::kPublic},
      {"64:ff9b:1::8.8.8.8", K::kPrivate},
      {"2002:7f00:1::1", K::kLoopback},
      {"2002:a00:1::", K::kPrivate},
      {"2002:808:808::", K::kPublic},
  };
  for (const auto& [text, kind] : cases) {
    const auto address = IpAddress::parse(text);
    ASSERT_TRUE(address) << text;
    EXPECT_EQ(classify(*address), kind) << text << " is " << name_of(classify(*address));
    EXPECT_EQ(AddressPolicy{}.permits(*address), kind == K::kPublic) << text;
    EXPECT_TRUE(AddressPolicy{.allow_all = true}.permits(*address)) << text;
  }
}

TEST(IpAddress, IsReadAndWritten) {
  for (const char* text : {"192.0.2.1", "2001:db8::1", "::ffff:1.2.3.4"})
    EXPECT_EQ(IpAddress::parse(text)->text(), text);
  for (const char* text : {"", "1.2.3", "1.2.3.4.5", "256.1.1.1", "::g", "0x7f.0.0.1", "1.2.3.4 "})
    EXPECT_FALSE(IpAddress::parse(text)) << text;
}

TEST(IpAddress, IsTakenFromASocket) {
  sockaddr_in four{};
  four.sin_family = AF_INET;
  four.sin_addr.s_addr = htonl(0x7F000001);
  EXPECT_EQ(IpAddress::from(reinterpret_cast<sockaddr&>(four))->text(), "127.0.0.1");
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6;
  six.sin6_addr = in6addr_loopback;
  EXPECT_EQ(IpAddress::from(reinterpret_cast<sockaddr&>(six))->text(), "::1");
  sockaddr other{};
  other.sa_family = AF_UNIX;
  EXPECT_FALSE(IpAddress::from(other));
}

TEST(AddressPolicy, AllowsTheNetworksItLists) {
  const AddressPolicy policy{.allowed = {Network::parse("10.1.0.0/16").value(),
                                         Network::parse("::1").value(),
                                         Network::parse("192.168.7.128/25").value()}};
  EXPECT_TRUE(policy.permits(*IpAddress::parse("10.1.2.3")));
  EXPECT_FALSE(policy.permits(*IpAddress::parse("10.2.2.3")));
  EXPECT_TRUE(policy.permits(*IpAddress::parse("::1")));
  EXPECT_FALSE(policy.permits(*IpAddress::parse("127.0.0.1")));
  EXPECT_TRUE(policy.permits(*IpAddress::parse("192.168.7.200")));
  EXPECT_FALSE(policy.permits(*IpAddress::parse("192.168.7.127")));
}

TEST(Network, IsRefusedWhereItIsNone) {
  for (const char* text :
       {"", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "10/8", "::/129", "x/8", "1.2.3.4/8x"})
    EXPECT_FALSE(Network::parse(text).ok()) << text;
  EXPECT_TRUE(Network::parse("0.0.0.0/0").ok());
}

}  // namespace
}  // namespace kin::net
