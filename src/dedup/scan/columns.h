// Which columns a run reads.
#pragma once

#include "base/result.h"
#include "data/dataset.h"
#include "dedup/options.h"

namespace kin::dedup {

// Takes "id" and "source" where the data has them and nothing else was named. An id or source
// column that was named and is not there is an error that lists those that are; so is a column to
// keep by, where all columns are known.
Status settle_columns(data::Dataset& dataset, DedupOptions& options);

// An error if a column of columns_read() is in no record at all, which `found` says: it names the
// flag and lists the columns that the records have.
Status check_found(data::Dataset& dataset, const DedupOptions& options,
                   const std::vector<bool>& found);

// Adds what a further part of a scan found, by column, to `all`.
void merge_found(const std::vector<bool>& more, std::vector<bool>& all);

}  // namespace kin::dedup
