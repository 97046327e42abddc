// Kept rows of Parquet files of one schema, written page by page.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "data/pages/thrift_compact.h"
#include "data/parquet/file.h"
#include "data/parquet/writer.h"

namespace kin::data {

// Writes the rows that are wanted, with the changes and the format that the request asks for.
Result<WriteReport> write_pages(std::span<const ParquetFile> files,
                                const ParquetWriteRequest& request);

// Key-value metadata that other programs left, as far as all files agree on it.
std::vector<ThriftValue> common_metadata(std::span<const ParquetFile> files,
                                         std::vector<std::string>& notes);

// The key-value metadata that write_pages() puts into its output; nothing: that of the only input.
// What Arrow keeps there describes the columns, and its readers refuse a file with others.
std::optional<std::vector<ThriftValue>> output_metadata(std::span<const ParquetFile> files,
                                                        const WriteOptions& how,
                                                        std::vector<std::string>& notes);

}  // namespace kin::data
