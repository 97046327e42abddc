// A fingerprint: the sketches of a document, recorded in a store together with its identity.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/doc_id.h"
#include "base/hash.h"

namespace kin::store {

using ChunkHash = std::array<std::byte, 32>;  // SHA-256

// Sketches that the parameters of a store do not ask for are missing or empty.
struct Fingerprint {
  DocId doc{};
  std::string key = {};  // the document's key in its source
  std::string source = {};
  std::string type = {};  // kind of document; empty: none
  std::string language = {};
  std::string run = {};  // the run that added it
  WallTime created{};

  std::optional<Hash128> content = {};  // of the text
  std::optional<Hash128> words = {};    // of its shingles
  std::optional<std::uint64_t> simhash = {};
  std::vector<std::uint64_t> bands = {};     // band keys
  std::vector<std::uint8_t> signature = {};  // compact MinHash
  std::vector<ChunkHash> chunks = {};        // in the order of the text
  std::string packed_text = {};              // as data::TextPacker packs it; empty: not kept

  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
};

// The keys of a stored fingerprint, read without the rest. Views into its bytes.
struct FingerprintKeys {
  WallTime created{};
  std::optional<Hash128> content = {};
  std::optional<Hash128> words = {};
  std::optional<std::uint64_t> simhash = {};
  std::string_view bands = {};  // eight bytes each, little-endian
  std::string_view signature = {};
};

// Identifies this version of a document: a hash of everything but the text. The same for
// ever.
Hash128 row_version(const Fingerprint& fingerprint);

// The setting with the names of the columns that the texts of the first run came from. Stores do
// not compare it, because columns of sources may differ in their names.
inline constexpr std::string_view kColumnsSetting = "columns";

// The parameters of the fingerprints of a store. Fingerprints made with different parameters cannot
// be compared, so a store refuses them.
struct FingerprintParameters {
  // Names and values of every option that changes a fingerprint, versions of sketches included.
  std::vector<std::pair<std::string, std::string>> settings = {};
  int hamming = 3;  // SimHashes that differ in at most this many bits are candidates; 0 to 15

  friend bool operator==(const FingerprintParameters&, const FingerprintParameters&) = default;
};

// A short name of the parameters, the same for ever: part of the keys of shared stores.
std::string version_of(const FingerprintParameters& parameters);

}  // namespace kin::store
