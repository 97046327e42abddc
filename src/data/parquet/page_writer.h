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

// Writes the wanted rows, with the changes and in the format of the request.
Result<WriteReport> write_pages(std::span<const ParquetFile> files,
                                const ParquetWriteRequest& request);

// Key-value metadata of other programs, as far as all files agree on it.
std::vector<ThriftValue> common_metadata(std::span<const ParquetFile> files,
                                         std::vector<std::string>& notes);

// The key-value metadata of write_pages()' output; nothing: that of the only input. Arrow stores a
// description of the columns there, and its readers refuse a file with other columns.
std::optional<std::vector<ThriftValue>> output_metadata(std::span<const ParquetFile> files,
                                                        const WriteOptions& how,
                                                        std::vector<std::string>& notes);

}  // namespace kin::data
