// The manifest of a table in a bucket: the segments it consists of. Manifests are numbered; the one
// with the highest number counts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "store/segments/segment_format.h"

namespace kin::store {

// A segment that was merged into another: older views still read it.
struct RetiredSegment {
  std::string name = {};
  WallTime at{};
  friend bool operator==(const RetiredSegment&, const RetiredSegment&) = default;
};

struct TableManifest {
  std::uint64_t number = 0;
  std::string description = {};  // chosen by the table's owner; never changes
  std::uint64_t records = 0;     // counted by the owner
  std::uint64_t capped = 0;      // items that merges left out, as the owner counts them
  std::uint64_t removed = 1;     // manifests below it were removed
  std::uint64_t first = 1;       // manifests below it may be removed, and do not count
  std::uint64_t cleaned = 1;     // the manifest of the last clean-up, and its time
  WallTime cleaned_at{};
  std::vector<SegmentInfo> segments = {};  // oldest first
  std::vector<RetiredSegment> retired = {};

  friend bool operator==(const TableManifest&, const TableManifest&) = default;
};

std::string encode(const TableManifest& manifest);
// kDataLoss if the bytes are damaged, kFailedPrecondition if they are of another version.
Result<TableManifest> decode_table_manifest(std::string_view bytes);

// The names of objects. Those of manifests descend, so that a list begins with the newest.
std::string manifest_name(std::uint64_t number);
std::optional<std::uint64_t> manifest_number(std::string_view name);
// The name contains the time when the segment was begun; `random` distinguishes equal times.
std::string segment_name(WallTime begun, std::uint64_t random);
std::optional<WallTime> segment_begun(std::string_view name);

inline constexpr std::string_view kManifests = "manifests/";
inline constexpr std::string_view kSegments = "segments/";

}  // namespace kin::store
