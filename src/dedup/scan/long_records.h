// How many records the inputs have and how long the longest are, for runs whose memory is too
// small.
#pragma once

#include <filesystem>
#include <span>

#include "data/dataset.h"
#include "dedup/options.h"
#include "dedup/spill/budget.h"

namespace kin::dedup {

// Reads all inputs, and adds the number of their records, the longest of them and the heaviest text
// to `needs`. Where --max-memory has no room for the longest record of an input, all of it is taken
// for text, as is a page of Parquet that it has no room for. Stays within --max-memory.
Status measure_records(std::span<const data::Input> inputs, const DedupOptions& options,
                       const std::filesystem::path& folder, MemoryNeeds& needs);

}  // namespace kin::dedup
