#include "dedup/known/format.h"

#include "base/bytes.h"
#include "base/sized_text.h"

namespace kin::dedup {
namespace {

constexpr std::string_view kMagic = "KINKNOWN";
constexpr std::uint32_t kVersion = 1;

Error damaged() {
  return {Code::kDataLoss, "its checksum is wrong (restore the folder, or name another)"};
}

enum Flags : std::uint8_t { kHasExact = 1, kHasWords = 2 };

}  // namespace

std::string encode_known(const KnownManifest& manifest) {
  std::string bytes(kMagic);
  append_le(bytes, kVersion);
  append_le(bytes, manifest.records);
  append_le(bytes, manifest.longest_text);
  append_le(bytes, static_cast<std::uint32_t>(manifest.settings.size()));
  for (const auto& [flag, value] : manifest.settings) {
    append_sized(bytes, flag);
    append_sized(bytes, value);
  }
  append_le(bytes, static_cast<std::uint32_t>(manifest.files.size()));
  for (const KnownManifest::File& file : manifest.files) {
    append_le(bytes, file.first);
    append_sized(bytes, file.name);
  }
  append_le(bytes, checksum(bytes));
  return bytes;
}

Result<KnownManifest> decode_known(std::string_view bytes) {
  ByteReader head(bytes);
  if (head.read_bytes(kMagic.size()) != kMagic) return damaged();
  const auto version = head.read<std::uint32_t>();
  if (head.ok() && version != kVersion) {
    return Error{Code::kFailedPrecondition,
                 "it was made by another version of Kindred (name another folder)"};
  }
  const auto body = checked_body(bytes);
  if (!head.ok() || !body) return damaged();
  ByteReader reader(body->substr(kMagic.size() + sizeof kVersion));
  KnownManifest manifest;
  manifest.records = reader.read<std::uint64_t>();
  manifest.longest_text = reader.read<std::uint64_t>();
  // A count is checked by reading up to the end, so a damaged count cannot read further.
  const auto settings = reader.read<std::uint32_t>();
  for (std::uint32_t i = 0; i < settings && reader.ok(); ++i) {
    std::string flag = read_sized(reader);
    manifest.settings.emplace_back(std::move(flag), read_sized(reader));
  }
  const auto files = reader.read<std::uint32_t>();
  for (std::uint32_t i = 0; i < files && reader.ok(); ++i) {
    const auto first = reader.read<std::uint64_t>();
    if (!manifest.files.empty() && first <= manifest.files.back().first) return damaged();
    manifest.files.push_back({first, read_sized(reader)});
  }
  const bool begins = manifest.files.empty() ? manifest.records == 0
                                             : manifest.files.front().first == 0 &&
                                                   manifest.files.back().first < manifest.records;
  if (!reader.ok() || !reader.rest().empty() || !begins) return damaged();
  return manifest;
}

std::string encode_row(const KnownRow& row) {
  std::string bytes;
  append_le(bytes,
            static_cast<std::uint8_t>((row.exact ? kHasExact : 0) | (row.words ? kHasWords : 0)));
  append_le(bytes, row.exact.value_or(Hash128{}));
  append_le(bytes, row.words.value_or(Hash128{}));
  append_le(bytes, row.simhash);
  for (const std::uint64_t key : row.bands) append_le(bytes, key);
  bytes.append(reinterpret_cast<const char*>(row.signature.data()), row.signature.size());
  return bytes;
}

void decode_row(std::string_view bytes, KnownRow& row) {
  ByteReader reader(bytes);
  const auto flags = reader.read<std::uint8_t>();
  const auto exact = reader.read<Hash128>();
  const auto words = reader.read<Hash128>();
  row.exact.reset();
  row.words.reset();
  if ((flags & kHasExact) != 0) row.exact = exact;
  if ((flags & kHasWords) != 0) row.words = words;
  row.simhash = reader.read<std::uint64_t>();
  for (std::uint64_t& key : row.bands) key = reader.read<std::uint64_t>();
  const std::string_view signature = reader.rest();
  row.signature.assign(signature.begin(), signature.end());
}

std::string encode_value(const KnownValue& value) {
  std::string bytes;
  append_le(bytes, static_cast<std::uint8_t>(value.id ? 1 : 0));
  append_sized(bytes, value.id.value_or(""));
  bytes += value.packed_text;
  return bytes;
}

Result<KnownValue> decode_value(std::string_view bytes) {
  ByteReader reader(bytes);
  KnownValue value;
  const auto has_id = reader.read<std::uint8_t>();
  const auto length = reader.read<std::uint32_t>();
  const std::string_view id = reader.read_bytes(length);
  if (has_id == 1) value.id = id;
  value.packed_text = reader.rest();
  if (!reader.ok() || has_id > 1 || (has_id == 0 && length > 0)) return damaged();
  return value;
}

}  // namespace kin::dedup
