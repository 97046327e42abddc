// Copies of segments in a folder of this machine.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "base/disk.h"
#include "base/result.h"
#include "store/segments/segment_format.h"

namespace kin::store {

// Thread-safe; several processes may share a folder. Files are named like their segments, which
// never change, and appear when they are complete. No file in the folder is essential: a reader
// compares a file with the manifest, and calls forget() if it does not match. A failure to write is
// counted and costs only time.
class SegmentCache {
 public:
  // Keeps at most `most_bytes`, apart from files that are being written.
  SegmentCache(Disk& disk, std::filesystem::path folder, std::uint64_t most_bytes);

  // The copy of a segment; nullptr if there is none of the right size.
  std::shared_ptr<DiskFile> find(const SegmentInfo& segment);
  // Whether the cache accepts a segment of this size.
  bool takes(std::uint64_t bytes) const { return bytes <= most_bytes_ / 2; }
  // Makes a copy with the bytes that `fill` writes. The file is usable even if it is not kept.
  using Fill = std::function<Status(DiskFile& file)>;
  Result<std::shared_ptr<DiskFile>> add(const std::string& name, const Fill& fill);
  void forget(const std::string& name);

  std::uint64_t failures() const { return failures_; }

 private:
  void make_room(std::uint64_t bytes);
  std::filesystem::path path_of(const std::string& name) const;
  void count(const Status& status);

  Disk& disk_;
  const std::filesystem::path folder_;
  const std::uint64_t most_bytes_;
  std::mutex mutex_;
  std::uint64_t uses_ = 0;
  std::unordered_map<std::string, std::uint64_t> last_use_;  // by file name
  std::atomic<std::uint64_t> failures_ = 0;
};

}  // namespace kin::store
