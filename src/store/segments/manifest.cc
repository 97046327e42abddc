#include "store/segments/manifest.h"

#include <fmt/format.h>

#include <charconv>

#include "base/bytes.h"
#include "base/sized_text.h"

namespace kin::store {
namespace {

// magic u64, version u32, number, records, capped, removed, first, cleaned u64, cleaned at
// (milliseconds) i64, description; segments u32; per segment: name, bytes, bytes and checksum of
// the tail, entries u64; retired segments u32; per segment: name, milliseconds i64; checksum u64.
// Texts have their size (u32) in front.
constexpr std::uint64_t kMagic = 0x464e414d4e494bULL;  // "KINMANF"
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kDigits = 16;

std::optional<std::uint64_t> parse_hex(std::string_view digits) {
  std::uint64_t value = 0;
  const auto [end, failure] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (failure != std::errc() || end != digits.data() + digits.size() || digits.size() != kDigits)
    return std::nullopt;
  return value;
}

std::int64_t millis(WallTime time) {
  return time.time_since_epoch().count();
}
WallTime wall(std::int64_t millis) {
  return WallTime(std::chrono::milliseconds(millis));
}

}  // namespace

std::string encode(const TableManifest& manifest) {
  std::string out;
  append_le(out, kMagic);
  append_le(out, kVersion);
  for (const std::uint64_t number : {manifest.number, manifest.records, manifest.capped,
                                     manifest.removed, manifest.first, manifest.cleaned})
    append_le(out, number);
  append_le(out, millis(manifest.cleaned_at));
  append_sized(out, manifest.description);
  append_le(out, static_cast<std::uint32_t>(manifest.segments.size()));
  for (const SegmentInfo& segment : manifest.segments) {
    append_sized(out, segment.name);
    for (const std::uint64_t number :
         {segment.bytes, segment.tail_bytes, segment.tail_checksum, segment.entries})
      append_le(out, number);
  }
  append_le(out, static_cast<std::uint32_t>(manifest.retired.size()));
  for (const RetiredSegment& retired : manifest.retired) {
    append_sized(out, retired.name);
    append_le(out, millis(retired.at));
  }
  append_le(out, checksum(out));
  return out;
}

Result<TableManifest> decode_table_manifest(std::string_view bytes) {
  const Error damaged{Code::kDataLoss, "a manifest of the store is damaged (restore the bucket)"};
  const auto body = checked_body(bytes);
  if (!body) return damaged;
  ByteReader in(*body);
  if (in.read<std::uint64_t>() != kMagic) return damaged;
  if (in.read<std::uint32_t>() != kVersion) {
    return Error{Code::kFailedPrecondition,
                 "the store was written by another version of Kindred (use that version, or export "
                 "and import the store with it)"};
  }
  TableManifest manifest;
  for (std::uint64_t* number : {&manifest.number, &manifest.records, &manifest.capped,
                                &manifest.removed, &manifest.first, &manifest.cleaned})
    *number = in.read<std::uint64_t>();
  manifest.cleaned_at = wall(in.read<std::int64_t>());
  manifest.description = read_sized(in);
  const auto segments = in.read<std::uint32_t>();
  for (std::uint32_t i = 0; i < segments && in.ok(); ++i) {
    SegmentInfo& segment = manifest.segments.emplace_back();
    segment.name = read_sized(in);
    for (std::uint64_t* number :
         {&segment.bytes, &segment.tail_bytes, &segment.tail_checksum, &segment.entries})
      *number = in.read<std::uint64_t>();
    if (segment.tail_bytes > segment.bytes) return damaged;
  }
  const auto retired = in.read<std::uint32_t>();
  for (std::uint32_t i = 0; i < retired && in.ok(); ++i) {
    std::string name = read_sized(in);
    manifest.retired.push_back({std::move(name), wall(in.read<std::int64_t>())});
  }
  if (!in.ok() || !in.rest().empty()) return damaged;
  return manifest;
}

std::string manifest_name(std::uint64_t number) {
  return fmt::format("{}{:016x}", kManifests, ~number);
}

std::optional<std::uint64_t> manifest_number(std::string_view name) {
  if (!name.starts_with(kManifests)) return std::nullopt;
  const auto inverted = parse_hex(name.substr(kManifests.size()));
  if (!inverted) return std::nullopt;
  return ~*inverted;
}

std::string segment_name(WallTime begun, std::uint64_t random) {
  return fmt::format("{}{:016x}-{:016x}", kSegments, static_cast<std::uint64_t>(millis(begun)),
                     random);
}

std::optional<WallTime> segment_begun(std::string_view name) {
  if (!name.starts_with(kSegments)) return std::nullopt;
  const auto at = parse_hex(name.substr(kSegments.size(), kDigits));
  if (!at) return std::nullopt;
  return wall(static_cast<std::int64_t>(*at));
}

}  // namespace kin::store
