// The number of records in the inputs and the longest of them, for runs whose memory is too
// small.
#pragma once

#include <filesystem>
#include <span>

#include "data/dataset.h"
#include "dedup/options.h"
#include "dedup/spill/budget.h"

namespace kin::dedup {

// Whether the reader of these inputs holds pages (MemoryNeeds::pages).
bool hold_pages(std::span<const data::Input> inputs);

// Reads all inputs, and adds the number of their records, the longest record and the heaviest text
// to `needs`. If --max-memory has no room for the longest record of an input, or for a page of
// Parquet, all of it counts as text. Stays within --max-memory.
Status measure_records(std::span<const data::Input> inputs, const DedupOptions& options,
                       const std::filesystem::path& folder, MemoryNeeds& needs);

}  // namespace kin::dedup
