#include "sketch/chunks.h"

#include <openssl/evp.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "base/check.h"
#include "base/hash.h"
#include "base/utf8.h"

namespace kin::sketch {
namespace {

// Fetched once: looking the digest up for every chunk costs as much as hashing it.
const EVP_MD* sha256_digest() {
  static const std::unique_ptr<EVP_MD, decltype(&EVP_MD_free)> digest(
      EVP_MD_fetch(nullptr, "SHA256", nullptr), &EVP_MD_free);
  KIN_CHECK(digest != nullptr, "OpenSSL has SHA-256");
  return digest.get();
}

class Sha256 {
 public:
  std::array<std::byte, 32> hash(std::string_view bytes) {
    std::array<std::byte, 32> out;
    const bool hashed =
        EVP_DigestInit_ex(context_.get(), sha256_digest(), nullptr) == 1 &&
        EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1 &&
        EVP_DigestFinal_ex(context_.get(), reinterpret_cast<unsigned char*>(&out), nullptr) == 1;
    KIN_CHECK(hashed, "hashing bytes in memory does not fail");
    return out;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_{EVP_MD_CTX_new(),
                                                                   &EVP_MD_CTX_free};
};

std::size_t fixed_length(std::string_view rest, std::uint32_t characters) {
  // Each character has at least one byte.
  if (rest.size() <= characters) return rest.size();
  std::size_t seen = 0;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    seen += !is_utf8_tail(rest[i]);
    if (seen > characters) return i;
  }
  return rest.size();
}

// A random number for each byte; a rolling hash of them forgets a byte after 64 more.
constexpr auto kGear = [] {
  std::array<std::uint64_t, 256> gear{};
  for (std::uint64_t i = 0; i < gear.size(); ++i) gear[i] = mix64(0x6368756E6B73ULL + i);
  return gear;
}();

// Moves a cut off the middle of a character, back if it can.
std::size_t at_character(std::string_view rest, std::size_t cut) {
  if (cut >= rest.size()) return rest.size();
  const std::size_t back = character_start(rest, cut);
  return back > 0 ? back : cut;
}

std::size_t defined_length(std::string_view rest, std::uint32_t size) {
  // Without bounds, chunks could be one byte long, or the whole text.
  const std::size_t least = std::max<std::size_t>(size / 4, 1);
  const std::size_t most = std::size_t{size} * 4;
  if (rest.size() <= least) return rest.size();
  // A cut comes once in `gap` bytes after the least length, which makes the mean `size`.
  const std::uint64_t gap = std::max<std::uint64_t>(size - least, 1);
  const std::uint64_t limit = std::numeric_limits<std::uint64_t>::max() / gap;
  const std::size_t end = std::min(rest.size(), most);
  // Gear hashing: each byte shifts the earlier ones out by one bit, so the hash depends on the last
  // 64 bytes and begins that far ahead of the first possible cut.
  std::uint64_t hash = 0;
  for (std::size_t i = least > 64 ? least - 64 : 0; i < end; ++i) {
    hash = (hash << 1) + kGear[static_cast<std::uint8_t>(rest[i])];
    if (i + 1 < least || hash > limit) continue;
    // The cut moves to the next character. If the chunk ends first, the search goes on.
    std::size_t cut = i + 1;
    while (cut < end && is_utf8_tail(rest[cut])) ++cut;
    if (cut < end) return cut;
  }
  return at_character(rest, end);
}

}  // namespace

std::vector<Chunk> chunks(std::string_view utf8, const ChunkOptions& options) {
  const std::uint32_t size = std::max<std::uint32_t>(options.size, 1);
  Sha256 sha256;
  std::vector<Chunk> result;
  for (std::size_t offset = 0; offset < utf8.size();) {
    const std::string_view rest = utf8.substr(offset);
    const std::size_t length = options.kind == ChunkOptions::Kind::kFixed
                                   ? fixed_length(rest, size)
                                   : defined_length(rest, size);
    result.push_back({offset, length, sha256.hash(rest.substr(0, length))});
    offset += length;
  }
  return result;
}

}  // namespace kin::sketch
