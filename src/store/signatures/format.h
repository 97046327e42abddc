// The files of a signature store: `signatures.pages` (a header, then pages of signatures in slots)
// and `signatures.manifest` (the slot and the checksum of each page).
//
// The checksum of a page is kept in the manifest, apart from the page, so that a lost or misplaced
// write is detected like a flipped bit.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kin::store {

inline constexpr std::uint32_t kPageSignatures = 64;
// The first slot begins here: a multiple of every usual block size.
inline constexpr std::uint64_t kPagesHeaderBytes = 4096;
inline constexpr std::uint32_t kMaxSignatureBytes = 65'536;

inline constexpr std::string_view kPagesMagic = "KINSIGPG";
inline constexpr std::string_view kPagesFileName = "signatures.pages";
inline constexpr std::string_view kManifestFileName = "signatures.manifest";

// Exactly kPagesHeaderBytes.
std::string encode_pages_header(std::uint32_t signature_bytes);
// The signature_bytes of the header. kDataLoss if it is damaged, kFailedPrecondition if it is of
// another kind or version.
Result<std::uint32_t> decode_pages_header(std::string_view bytes);

std::uint64_t page_checksum(std::uint32_t page, std::string_view signatures);

struct ManifestPage {
  std::uint32_t page = 0;
  std::uint32_t slot = 0;
  std::uint64_t present = 0;  // bit i: the signature of record page × 64 + i is there
  std::uint64_t checksum = 0;
  friend bool operator==(const ManifestPage&, const ManifestPage&) = default;
};

struct SignatureManifest {
  std::uint32_t signature_bytes = 0;
  std::uint32_t slots = 0;          // in the file of pages, used or free
  std::vector<ManifestPage> pages;  // by page, ascending; no two share a slot; none is empty
  friend bool operator==(const SignatureManifest&, const SignatureManifest&) = default;
};

std::string encode_manifest(const SignatureManifest& manifest);
Result<SignatureManifest> decode_manifest(std::string_view bytes);

}  // namespace kin::store
