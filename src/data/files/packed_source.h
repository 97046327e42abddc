// Compressed files, unpacked while they are read.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "data/byte_source.h"

namespace kin::data {

// Common to decompressors: the packed bytes read but not yet unpacked. One thread only.
class PackedSource : public ByteSource {
 public:
  PackedSource(File file, std::string shown_as)
      : file_(std::move(file)), shown_as_(std::move(shown_as)), packed_(256 << 10) {}
  std::uint64_t consumed() const override { return consumed_; }

 protected:
  // Reads more if nothing is waiting. False at the end of the file.
  Result<bool> fill();
  Error damaged(std::string_view why) const;
  Error something_follows() const;
  Error cut_short() const;

  File file_;
  std::string shown_as_;
  std::vector<char> packed_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t consumed_ = 0;
};

// Sources for one format each. Files that consist of several
// concatenated streams are read to their end.
std::unique_ptr<ByteSource> gzip_source(File file, std::string shown_as);
std::unique_ptr<ByteSource> zstd_source(File file, std::string shown_as);
std::unique_ptr<ByteSource> bzip2_source(File file, std::string shown_as);
std::unique_ptr<ByteSource> xz_source(File file, std::string shown_as);

}  // namespace kin::data
