// The files of a store of known records beside signatures and texts: the file `known`, and the
// layout of its rows and values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/result.h"

namespace kin::dedup {

inline constexpr std::string_view kKnownName = "known";

// The file `known`: the number of records in the store, and how they were made. Rows and texts
// after `records` do not count.
struct KnownManifest {
  // Records from `first` on were read from this file.
  struct File {
    std::uint64_t first = 0;
    std::string name;
    friend bool operator==(const File&, const File&) = default;
  };
  std::uint64_t records = 0;
  std::uint64_t longest_text = 0;  // in bytes
  // Flags and values that every run with this store must have.
  std::vector<std::pair<std::string, std::string>> settings;
  std::vector<File> files;  // ascending
  friend bool operator==(const KnownManifest&, const KnownManifest&) = default;
};
std::string encode_known(const KnownManifest& manifest);
// kDataLoss if the bytes are damaged, kFailedPrecondition if they are of another version.
Result<KnownManifest> decode_known(std::string_view bytes);

// The keys of a record. All rows of a store have the same number of bands and signature bytes.
struct KnownRow {
  std::optional<Hash128> exact;  // of the text
  std::optional<Hash128> words;  // of the shingles
  std::uint64_t simhash = 0;     // 0: none
  std::vector<std::uint64_t> bands;
  std::vector<std::uint8_t> signature;
  friend bool operator==(const KnownRow&, const KnownRow&) = default;
};
constexpr std::size_t known_row_bytes(std::size_t bands, std::size_t signature) {
  return 1 + 2 * sizeof(Hash128) + sizeof(std::uint64_t) * (1 + bands) + signature;
}
std::string encode_row(const KnownRow& row);
// The row of known_row_bytes() bytes, in `row`, whose lists have the right lengths.
void decode_row(std::string_view bytes, KnownRow& row);

// Whether `may_be_shared` is true for the low word of a hash or for a band key of the row, without
// decoding it. It may also be called with keys that the row does not have.
template <typename Ask>
bool any_key_of_row(std::string_view bytes, std::size_t bands, const Ask& may_be_shared) {
  const auto word = [&](std::size_t at) { return load_le<std::uint64_t>(bytes.data() + at); };
  if (may_be_shared(word(1)) || may_be_shared(word(1 + sizeof(Hash128)))) return true;
  const std::size_t first = 1 + 2 * sizeof(Hash128) + sizeof(std::uint64_t);
  for (std::size_t band = 0; band < bands; ++band) {
    if (may_be_shared(word(first + band * sizeof(std::uint64_t)))) return true;
  }
  return false;
}

// The value kept for a record: its id, and its text as TextPacker packed it.
struct KnownValue {
  std::optional<std::string_view> id;
  std::string_view packed_text;
};
std::string encode_value(const KnownValue& value);
// Views into `bytes`.
Result<KnownValue> decode_value(std::string_view bytes);

}  // namespace kin::dedup
