// Finds records all of whose chunks are in other records.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "base/result.h"
#include "dedup/groups/grouping.h"
#include "dedup/options.h"
#include "dedup/pairs/classes.h"
#include "dedup/scan/scan.h"

namespace kin::dedup {

struct ChunkOutcome {
  std::vector<Removal> removals;  // sorted by record
  std::uint64_t linked = 0;       // records that share some chunk with another and stay
};

struct ChunkInput {
  const Scan& scan;
  const Classes& classes;
  const std::vector<Removal>& removals;  // the decisions of the other detectors
  std::filesystem::path folder;
};

// Looks only at class representatives that were not removed, and removes none for which a record
// with another text was removed; copies are removed with it. A chunk belongs to the best record
// that holds it; a record is removed if every one of its chunks belongs to another. The owner of a
// chunk is never removed, so no chunk is lost. The removal names the record that owns most of the
// chunks, the earliest of equals; its similarity is their share. Data beyond `memory` goes to a
// file in the folder.
Result<ChunkOutcome> find_chunk_duplicates(const ChunkInput& input, const DedupOptions& options,
                                           std::uint64_t memory);

}  // namespace kin::dedup
