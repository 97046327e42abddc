// The list of the segments of a text index, as bytes (docs/formats.md, "Text manifest").
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kin::index {

struct ManifestPart {
  std::uint64_t id = 0;
  std::uint64_t checksum = 0;            // of the segment
  std::vector<std::uint32_t> deleted{};  // ordinals, ascending
};

struct TextManifest {
  std::uint64_t options = 0;  // options_hash()
  std::uint64_t applied = 0;
  std::uint64_t next_id = 0;
  std::vector<ManifestPart> parts{};
};

inline constexpr std::uint32_t kManifestVersion = 1;

// Thread-safe, like decode_manifest().
std::string encode_manifest(const TextManifest& manifest);
// kDataLoss if the bytes are damaged, kFailedPrecondition if they are of another version.
Result<TextManifest> decode_manifest(std::string_view bytes);

}  // namespace kin::index
