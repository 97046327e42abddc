// Joins Parquet files of one schema into one, without touching their data.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "data/pages/thrift_compact.h"

namespace kin::data {

// Copies the row groups of one file after another, and writes one footer for all. Made for files
// that one writer wrote with the same options. One thread only.
class ParquetJoiner {
 public:
  static Result<ParquetJoiner> create(const std::filesystem::path& path);

  // Appends the row groups of the file at `path`, which must have the schema of the earlier files.
  Status append(const std::filesystem::path& path);
  // Replaces the key-value metadata, which is that of the first file by default.
  void set_key_values(std::vector<ThriftValue> pairs) { key_values_ = std::move(pairs); }
  // Writes the footer. At least one file must have been appended.
  Status finish();
  std::uint64_t bytes() const { return end_; }

 private:
  explicit ParquetJoiner(File file) : file_(std::move(file)) {}
  Status copy(const File& from, std::uint64_t begin, std::uint64_t end);

  File file_;
  std::uint64_t end_ = 0;
  std::optional<ThriftValue> footer_;
  std::optional<std::vector<ThriftValue>> key_values_;
};

// The key-value metadata of the Parquet file at `path`, as structs of parquet.thrift.
Result<std::vector<ThriftValue>> read_key_values(const File& file);

// The key of a pair.
std::string key_of(ThriftValue& pair);

}  // namespace kin::data
