// A filter on disk, in pages with a checksum each. A look-up reads one page.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "base/disk.h"
#include "base/result.h"
#include "store/seen/block_filter.h"

namespace kin::store {

// Identifies the file that the filter is for. It is part of every checksum, so the filter of
// another file with the same name is not accepted.
struct FilterIdentity {
  std::uint64_t value = 0;
};

Status write_filter(Disk& disk, const std::filesystem::path& path, FilterIdentity identity,
                    const BlockFilter& filter);

// An open filter file. Thread-safe.
class FilterFile {
 public:
  // kNotFound if there is none, kDataLoss if it is damaged or belongs to another file.
  static Result<FilterFile> open(Disk& disk, const std::filesystem::path& path,
                                 FilterIdentity identity);

  // Reads one page.
  Result<bool> may_contain(SeenId id) const;
  Result<std::shared_ptr<const BlockFilter>> load() const;
  std::uint64_t blocks() const { return blocks_; }
  std::uint64_t file_bytes() const;

 private:
  FilterFile(std::unique_ptr<DiskFile> file, std::filesystem::path path, FilterIdentity identity)
      : file_(std::move(file)), path_(std::move(path)), identity_(identity) {}
  Status read_page(std::uint64_t page, char* to) const;

  std::unique_ptr<DiskFile> file_;
  std::filesystem::path path_;
  FilterIdentity identity_;
  std::uint64_t blocks_ = 0;
};

}  // namespace kin::store
