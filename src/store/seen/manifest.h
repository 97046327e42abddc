// The manifest of the seen set: the files that hold it. Replaced as a whole at every change.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/seen/id.h"
#include "store/seen/piece.h"

namespace kin::store {

inline constexpr std::string_view kManifestName = "manifest";

// Sorted ids in consecutive pieces. A merge moves ids from the front of several runs to the end of
// a new one, a piece at a time, so that memory, disk and the work that a crash can undo are limited
// to one piece.
struct RunInfo {
  std::uint64_t number = 0;
  std::uint64_t into = 0;    // the run that its ids are moving to; 0 if none
  bool growing = false;      // ids are moving into it
  SeenId from = {};          // ids below have moved
  std::uint64_t ids = 0;     // all it ever had, including moved ones
  std::uint64_t digest = 0;  // the sum of digest_of() over them
  std::vector<PieceInfo> pieces = {};
  friend bool operator==(const RunInfo&, const RunInfo&) = default;
};

struct SeenManifest {
  IdKind kind = IdKind::kNumber;
  std::uint64_t seed = 0;           // of the hash of strings
  std::uint64_t next_number = 1;    // for pieces and runs
  std::uint64_t first_log = 1;      // logs below have been written out
  std::uint64_t durable_log = 1;    // a log ...
  std::uint64_t durable_bytes = 0;  // ... and how much of it is certainly on the device
  std::vector<RunInfo> runs = {};
  friend bool operator==(const SeenManifest&, const SeenManifest&) = default;
};

// The number of ids, each counted once: a running merge spreads its ids over old and new runs.
std::uint64_t ids_in_runs(const SeenManifest& manifest);
// The numbers of all pieces that the manifest names.
std::set<std::uint64_t> piece_numbers(const SeenManifest& manifest);

std::string encode(const SeenManifest& manifest);
// kDataLoss, without a path, if the bytes are damaged; kFailedPrecondition if they are of a version
// that this program does not know.
Result<SeenManifest> decode_seen_manifest(std::string_view bytes);

}  // namespace kin::store
