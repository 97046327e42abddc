// Checks that end a run early.
#pragma once

#include <cstdint>
#include <filesystem>

#include "base/result.h"
#include "data/dataset.h"
#include "dedup/options.h"
#include "dedup/spill/budget.h"

namespace kin::dedup {

// Refuses to overwrite a signature store that is not empty.
Status check_signature_store(const DedupOptions& options);

// An error if there are no records, or none could be read: then the command is wrong, not the data.
Status check_records(const data::Dataset& dataset, std::uint64_t records);

// The error of a run that met a record or text too long for its memory, with a budget that would be
// enough for `needs`, which cover all records and texts.
Error explain_too_long(const DedupOptions& options, const MemoryNeeds& needs, Error error);

// An error if more signatures and texts in `folder` were unreadable than the options allow. Each of
// them may leave a duplicate in the output, or a record without its text in the audit log.
Status check_read_errors(const DedupOptions& options, std::uint64_t records, std::uint64_t errors,
                         const std::filesystem::path& folder);

}  // namespace kin::dedup
