// Digests of cloud protocols. All functions are thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kin::cloud {

// 32 bytes.
std::string sha256(std::string_view bytes);
std::string hmac_sha256(std::string_view key, std::string_view bytes);

// The checksum of DynamoDB's answers (CRC-32 of IEEE 802.3).
std::uint32_t crc32(std::string_view bytes);

}  // namespace kin::cloud
