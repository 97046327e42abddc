#include "cloud/signing/digest.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>

#include "base/check.h"

namespace kin::cloud {
namespace {

constexpr std::size_t kSha256Bytes = 32;

const unsigned char* unsigned_bytes(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

constexpr std::array<std::uint32_t, 256> make_crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1U ? 0xEDB88320U : 0U);
    table[i] = crc;
  }
  return table;
}
constexpr auto kCrcTable = make_crc_table();

}  // namespace

std::string sha256(std::string_view bytes) {
  std::string digest(kSha256Bytes, '\0');
  unsigned int length = 0;
  const int done =
      ::EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char*>(digest.data()),
                   &length, ::EVP_sha256(), nullptr);
  KIN_CHECK(done == 1 && length == kSha256Bytes, "OpenSSL has SHA-256");
  return digest;
}

std::string hmac_sha256(std::string_view key, std::string_view bytes) {
  std::string digest(kSha256Bytes, '\0');
  unsigned int length = 0;
  const unsigned char* done =
      ::HMAC(::EVP_sha256(), key.data(), static_cast<int>(key.size()), unsigned_bytes(bytes),
             bytes.size(), reinterpret_cast<unsigned char*>(digest.data()), &length);
  KIN_CHECK(done != nullptr && length == kSha256Bytes, "OpenSSL has HMAC");
  return digest;
}

std::uint32_t crc32(std::string_view bytes) {
  std::uint32_t crc = ~0U;
  for (const char c : bytes)
    crc = (crc >> 8) ^ kCrcTable[(crc ^ static_cast<unsigned char>(c)) & 0xFF];
  return ~crc;
}

}  // namespace kin::cloud
