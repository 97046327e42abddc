// Records all of whose chunks are in other records.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "base/record_set.h"
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
  const RecordSet& kept;
  const RecordSet& anchors;  // records that others were removed for
  std::filesystem::path folder;
};

// Looks only at class representatives in `kept`, and removes none that is in `anchors`. A chunk
// belongs to the best record that holds it; a record goes if every one of its chunks belongs to
// another. No owner of a chunk ever goes, so nothing is lost. The removal names the record that
// owns most of the chunks; its similarity is their share. What does not fit into `memory` goes to
// a file in the folder.
Result<ChunkOutcome> find_chunk_duplicates(const ChunkInput& input, const DedupOptions& options,
                                           std::uint64_t memory);

}  // namespace kin::dedup
