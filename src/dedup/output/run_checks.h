// Checks that end a run early.
#pragma once

#include <cstdint>
#include <filesystem>

#include "base/result.h"
#include "data/dataset.h"
#include "dedup/options.h"
#include "dedup/spill/budget.h"

namespace kin::dedup {

// Refuses to overwrite a signature store that holds something.
Status check_signature_store(const DedupOptions& options);

// An error if there are no records, or none could be read: the command is then wrong, not the data.
Status check_records(const data::Dataset& dataset, std::uint64_t records);

// An error if the budget is below `least` bytes, which these records need.
Status check_memory(const DedupOptions& options, std::uint64_t records, std::uint64_t least);

// An error if a text of so many bytes is too long for the memory.
Status check_longest_text(const DedupOptions& options, std::uint64_t longest,
                          const LongTexts& memory);

// The error of a scan; of a record that is too long for the memory it says how much would do.
Error explain_scan(const DedupOptions& options, const data::Dataset& dataset,
                   const LongTexts& memory, Error error);

// An error if more signatures and texts in `folder` were unreadable than the options allow. Each of
// them may leave a duplicate in place, or a record without its text in the audit log.
Status check_read_errors(const DedupOptions& options, std::uint64_t records, std::uint64_t errors,
                         const std::filesystem::path& folder);

}  // namespace kin::dedup
