// Chunk hashes: a text cut into pieces, and the SHA-256 of each. Thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace kin::sketch {

// Where texts are cut is on disk with their hashes: a change of any cut is a new kChunkVersion.
inline constexpr int kChunkVersion = 1;

struct ChunkOptions {
  enum class Kind : std::uint8_t {
    kFixed,           // every `size` characters
    kContentDefined,  // where the bytes themselves say, about every `size` bytes: an insertion
                      // moves only the cuts near it
  };
  Kind kind = Kind::kFixed;
  std::uint32_t size = 512;  // 0 is read as 1
};

struct Chunk {
  std::uint64_t offset;  // in bytes
  std::uint64_t length;  // in bytes
  std::array<std::byte, 32> sha256;
  friend bool operator==(const Chunk&, const Chunk&) = default;
};

// The chunks of a text in order: they cover all of it, never overlap and never cut a character.
// Content-defined ones have at least size / 4 bytes, but for the last, and at most size * 4.
// None for an empty text.
std::vector<Chunk> chunks(std::string_view utf8, const ChunkOptions& options);

}  // namespace kin::sketch
