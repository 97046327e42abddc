#include "cloud/signing/digest.h"

#include <openssl/evp.h>

#include <array>

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

// `key` with `pad` added to every byte, as long as a block of SHA-256.
std::string padded(std::string_view key, char pad) {
  std::string block(kSha256Block, pad);
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

constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<std::int8_t, 256> make_base64_values() {
  std::array<std::int8_t, 256> values{};
  values.fill(-1);
  for (std::size_t i = 0; i < kBase64.size(); ++i)
    values[static_cast<unsigned char>(kBase64[i])] = static_cast<std::int8_t>(i);
  return values;
}
constexpr auto kBase64Values = make_base64_values();

}  // namespace

std::string sha256(std::string_view bytes) {
  std::string digest(kSha256Bytes, '\0');
  unsigned int length = 0;
  const int done =
      ::EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char*>(digest.data()),
                   &length, sha256_method(), nullptr);
  KIN_CHECK(done == 1 && length == kSha256Bytes, "OpenSSL has SHA-256");
  return digest;
}

// RFC 2104. OpenSSL's own function builds several objects for each call.
std::string hmac_sha256(std::string_view key, std::string_view bytes) {
  const std::string digest = key.size() > kSha256Block ? sha256(key) : std::string(key);
  std::string inner = padded(digest, 0x36);
  inner += bytes;
  return sha256(padded(digest, 0x5c) + sha256(inner));
}

std::string to_base64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j)
      group = group << 8 | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0U);
    const std::size_t digits = std::min<std::size_t>(bytes.size() - i, 3) + 1;
    for (std::size_t j = 0; j < 4; ++j)
      out += j < digits ? kBase64[group >> (18 - 6 * j) & 63] : '=';
  }
  return out;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  text.remove_suffix(padding);
  std::string out;
  out.reserve(text.size() / 4 * 3 + 2);
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    const int value = kBase64Values[static_cast<unsigned char>(c)];
    if (value < 0) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    out += static_cast<char>(bits >> held & 0xFF);
  }
  // The last digit may have unused bits; encoders set them to zero.
  if ((bits & ((1U << held) - 1)) != 0) return std::nullopt;
  return out;
}

std::uint32_t crc32(std::string_view bytes) {
  std::uint32_t crc = ~0U;
  for (const char c : bytes)
    crc = (crc >> 8) ^ kCrcTable[(crc ^ static_cast<unsigned char>(c)) & 0xFF];
  return ~crc;
}

}  // namespace kin::cloud
