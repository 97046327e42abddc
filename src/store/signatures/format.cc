#include "store/signatures/format.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "store/signatures/store_file.h"

namespace kin::store {
namespace {

constexpr std::string_view kManifestMagic = "KINSIGMF";
constexpr std::string_view kStore = "signature store";
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kHeaderFields = 8 + 3 * sizeof(std::uint32_t);
constexpr std::size_t kManifestPageBytes = 24;

Error damaged(std::string_view what) {
  return Error{Code::kDataLoss, fmt::format("the {} of the {} is damaged", what, kStore)};
}

Status check_pages(const SignatureManifest& manifest) {
  std::vector<bool> taken(manifest.slots);
  std::int64_t last = -1;
  for (const ManifestPage& page : manifest.pages) {
    // Ascending pages and distinct slots: no two pages can share bytes.
    const bool sound = page.page > last && page.slot < manifest.slots && !taken[page.slot] &&
                       page.present != 0 && page.page < (std::uint64_t{1} << 32) / kPageSignatures;
    if (!sound) return damaged("manifest");
    taken[page.slot] = true;
    last = page.page;
  }
  return Done{};
}

}  // namespace

std::string encode_pages_header(std::uint32_t signature_bytes) {
  std::string out(kPagesMagic);
  append_le(out, kVersion);
  append_le(out, signature_bytes);
  append_le(out, kPageSignatures);
  append_le(out, checksum(out));
  // Zeros up to the first slot.
  out.resize(kPagesHeaderBytes);
  return out;
}

Result<std::uint32_t> decode_pages_header(std::string_view bytes) {
  KIN_RETURN_IF_ERROR(check_kind(bytes, {kPagesMagic, "page file", kStore}, kVersion));
  ByteReader reader(bytes);
  reader.read_bytes(kPagesMagic.size() + sizeof kVersion);
  const auto signature_bytes = reader.read<std::uint32_t>();
  const auto page_signatures = reader.read<std::uint32_t>();
  const bool sound = bytes.size() == kPagesHeaderBytes &&
                     checked_body(bytes.substr(0, kHeaderFields + sizeof(std::uint64_t))) &&
                     page_signatures == kPageSignatures && signature_bytes > 0 &&
                     signature_bytes <= kMaxSignatureBytes;
  if (!sound) return damaged("page file's header");
  return signature_bytes;
}

std::uint64_t page_checksum(std::uint32_t page, std::string_view signatures) {
  return hash64(signatures, mix64(page));
}

std::string encode_manifest(const SignatureManifest& manifest) {
  std::string out(kManifestMagic);
  out.reserve(kHeaderFields + 12 + manifest.pages.size() * kManifestPageBytes);
  append_le(out, kVersion);
  append_le(out, manifest.signature_bytes);
  append_le(out, manifest.slots);
  append_le(out, static_cast<std::uint32_t>(manifest.pages.size()));
  for (const ManifestPage& page : manifest.pages) {
    append_le(out, page.page);
    append_le(out, page.slot);
    append_le(out, page.present);
    append_le(out, page.checksum);
  }
  append_le(out, checksum(out));
  return out;
}

Result<SignatureManifest> decode_manifest(std::string_view bytes) {
  KIN_RETURN_IF_ERROR(check_kind(bytes, {kManifestMagic, "manifest", kStore}, kVersion));
  // The kind is checked first: a file of another version has another layout, and its checksum may
  // lie elsewhere.
  const auto body = checked_body(bytes);
  if (!body) return damaged("manifest");
  ByteReader reader(*body);
  reader.read_bytes(kManifestMagic.size() + sizeof kVersion);
  SignatureManifest manifest;
  manifest.signature_bytes = reader.read<std::uint32_t>();
  manifest.slots = reader.read<std::uint32_t>();
  const auto count = reader.read<std::uint32_t>();
  if (!reader.ok() || reader.rest().size() != count * kManifestPageBytes)
    return damaged("manifest");
  // More slots than twice the pages of all records. check_pages() allocates a bit for each.
  if (manifest.slots > (std::uint64_t{1} << 32) / kPageSignatures * 2) return damaged("manifest");
  manifest.pages.resize(count);
  for (ManifestPage& page : manifest.pages) {
    page.page = reader.read<std::uint32_t>();
    page.slot = reader.read<std::uint32_t>();
    page.present = reader.read<std::uint64_t>();
    page.checksum = reader.read<std::uint64_t>();
  }
  KIN_RETURN_IF_ERROR(check_pages(manifest));
  return manifest;
}

}  // namespace kin::store
