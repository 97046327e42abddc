// The columns that a run reads.
#pragma once

#include "base/result.h"
#include "data/dataset.h"
#include "dedup/options.h"

namespace kin::dedup {

// Uses "id" and "source" if the data has them and no others were named. A named id or source column
// that does not exist is an error that lists the existing ones; so is a column of --keep, if all
// columns are known.
Status settle_columns(data::Dataset& dataset, DedupOptions& options);

// An error if no record has a column of columns_read(), according to `found`: it names the flag and
// lists the columns that the records have.
Status check_found(data::Dataset& dataset, const DedupOptions& options,
                   const std::vector<bool>& found);

// Adds the result of a further part of a scan, by column, to `all`.
void merge_found(const std::vector<bool>& more, std::vector<bool>& all);

}  // namespace kin::dedup
