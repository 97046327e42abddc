// Opens a table in a bucket of S3.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "store/s3_stores.h"
#include "store/segments/table.h"

namespace kin::store {

// The table `name` below the prefix of the options. As SegmentTable::open().
Result<std::unique_ptr<SegmentTable>> open_s3_table(const S3StoreOptions& options,
                                                    const std::string& name, Join join,
                                                    const std::optional<std::string>& description);

// The location of the table, for messages.
std::string place_of(const S3StoreOptions& options, const std::string& name);

}  // namespace kin::store
