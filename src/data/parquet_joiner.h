// Joins Parquet files of one schema into one, without touching their data.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "base/file.h"
#include "base/result.h"
#include "data/thrift_compact.h"

namespace kin::data {

// Copies the row groups of one file after another, and writes one footer for all. Made for files
// that one writer wrote with the same options. One thread only.
class ParquetJoiner {
 public:
  static Result<ParquetJoiner> create(const std::filesystem::path& path);

  // Appends the row groups of the file at `path`, whose schema must be the one of those before.
  Status append(const std::filesystem::path& path);
  // Writes the footer. At least one file must have been appended.
  Status finish();
  std::uint64_t bytes() const { return end_; }

 private:
  explicit ParquetJoiner(File file) : file_(std::move(file)) {}
  Status copy(const File& from, std::uint64_t begin, std::uint64_t end);

  File file_;
  std::uint64_t end_ = 0;
  std::optional<ThriftValue> footer_;
};

}  // namespace kin::data
