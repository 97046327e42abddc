#include "cloud/signing/digest.h"

#include <openssl/evp.h>

#include <array>
#include <memory>

#include "base/check.h"

namespace kin::cloud {
namespace {

constexpr std::size_t kSha256Bytes = 32;

constexpr std::size_t kSha256Block = 64;

// Looked up once: OpenSSL would look it up in its tables for every digest.
const EVP_MD* sha256_method() {
  static const EVP_MD* const method = ::EVP_MD_fetch(nullptr, "SHA256", nullptr);
  KIN_CHECK(method != nullptr, "OpenSSL has SHA-256");
  return method;
}

// Of `bytes` and, after them, `rest`.
std::string sha256_of(std::string_view bytes, std::string_view rest) {
  // Kept, because a new one costs more than the digest of a short text.
  thread_local const std::unique_ptr<EVP_MD_CTX, decltype(&::EVP_MD_CTX_free)> context(
      ::EVP_MD_CTX_new(), &::EVP_MD_CTX_free);
  std::string digest(kSha256Bytes, '\0');
  unsigned int length = 0;
  const bool done =
      ::EVP_DigestInit_ex(context.get(), sha256_method(), nullptr) == 1 &&
      ::EVP_DigestUpdate(context.get(), bytes.data(), bytes.size()) == 1 &&
      ::EVP_DigestUpdate(context.get(), rest.data(), rest.size()) == 1 &&
      ::EVP_DigestFinal_ex(context.get(), reinterpret_cast<unsigned char*>(digest.data()),
                           &length) == 1;
  KIN_CHECK(done && length == kSha256Bytes, "OpenSSL has SHA-256");
  return digest;
}

// `key` with `pad` added to every byte, as long as a block of SHA-256.
using Block = std::array<char, kSha256Block>;
Block padded(std::string_view key, char pad) {
  Block block;
  block.fill(pad);
  for (std::size_t i = 0; i < key.size(); ++i) block[i] = static_cast<char>(key[i] ^ pad);
  return block;
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
  return sha256_of(bytes, "");
}

// RFC 2104. OpenSSL's own function builds several objects for each call.
std::string hmac_sha256(std::string_view key, std::string_view bytes) {
  if (key.size() > kSha256Block) return hmac_sha256(sha256(key), bytes);
  const auto over = [&](char pad, std::string_view text) {
    const Block block = padded(key, pad);
    return sha256_of({block.data(), block.size()}, text);
  };
  return over(0x5c, over(0x36, bytes));
}

std::uint32_t crc32(std::string_view bytes) {
  std::uint32_t crc = ~0U;
  for (const char c : bytes)
    crc = (crc >> 8) ^ kCrcTable[(crc ^ static_cast<unsigned char>(c)) & 0xFF];
  return ~crc;
}

}  // namespace kin::cloud
