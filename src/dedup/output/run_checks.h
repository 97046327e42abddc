// What can be wrong with a run, found out before it goes on.
#pragma once

#include <cstdint>
#include <filesystem>

#include "base/result.h"
#include "data/dataset.h"
#include "dedup/options.h"

namespace kin::dedup {

// A store that somebody kept is not overwritten.
Status check_signature_store(const DedupOptions& options);

// There are records, and some could be read: a run in which none could is a mistake in the
// command, not a clean corpus.
Status check_records(const data::Dataset& dataset, std::uint64_t records);

// The budget holds at least `least` bytes, which these records need.
Status check_memory(const DedupOptions& options, std::uint64_t records, std::uint64_t least);

// What could not be read back from `folder` leaves duplicates in place, or the audit log without a
// text: a few are reported, many end the run.
Status check_read_errors(const DedupOptions& options, std::uint64_t records, std::uint64_t errors,
                         const std::filesystem::path& folder);

}  // namespace kin::dedup
