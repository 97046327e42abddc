#include "index/text/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/bytes.h"
#include "base/hash.h"

namespace kin::index {
namespace {

constexpr std::string_view kMagic = "KINTEXTM";

Error damaged() {
  return Error{Code::kDataLoss, "the manifest of a text index is damaged"};
}

}  // namespace

std::string encode_manifest(const TextManifest& manifest) {
  std::string out(kMagic);
  append_le(out, kManifestVersion);
  append_le(out, static_cast<std::uint32_t>(manifest.parts.size()));
  append_le(out, manifest.options);
  append_le(out, manifest.applied);
  append_le(out, manifest.next_id);
  for (const ManifestPart& part : manifest.parts) {
    append_le(out, part.id);
    append_le(out, part.checksum);
    append_le(out, static_cast<std::uint32_t>(part.deleted.size()));
    out += as_bytes_view(std::span<const std::uint32_t>(part.deleted));
  }
  append_le(out, checksum(out));
  return out;
}

Result<TextManifest> decode_manifest(std::string_view bytes) {
  ByteReader reader(bytes);
  if (reader.read_bytes(kMagic.size()) != kMagic) return damaged();
  if (const auto version = reader.read<std::uint32_t>(); version != kManifestVersion) {
    return Error{
        Code::kFailedPrecondition,
        fmt::format(
            "the manifest of a text index has version {}, and this program reads version {}",
            version, kManifestVersion)};
  }
  // After the version: another version may have its checksum elsewhere.
  if (bytes.size() < 8 || load_le<std::uint64_t>(bytes.data() + bytes.size() - 8) !=
                              checksum(bytes.substr(0, bytes.size() - 8)))
    return damaged();
  const auto parts = reader.read<std::uint32_t>();
  TextManifest manifest;
  manifest.options = reader.read<std::uint64_t>();
  manifest.applied = reader.read<std::uint64_t>();
  manifest.next_id = reader.read<std::uint64_t>();
  for (std::uint32_t i = 0; i < parts && reader.ok(); ++i) {
    ManifestPart part;
    part.id = reader.read<std::uint64_t>();
    part.checksum = reader.read<std::uint64_t>();
    part.deleted = reader.read_vector<std::uint32_t>(reader.read<std::uint32_t>());
    if (!reader.ok()) return damaged();
    if (!std::ranges::is_sorted(part.deleted)) return damaged();
    manifest.parts.push_back(std::move(part));
  }
  // Only the checksum is left.
  if (!reader.ok() || reader.rest().size() != 8) return damaged();
  return manifest;
}

}  // namespace kin::index
