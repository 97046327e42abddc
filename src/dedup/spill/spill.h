// Fixed-size records in bins by key, in memory up to a limit and on disk beyond it. The stages of a
// batch run use it to bring equal keys together, in any memory budget.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/disk.h"
#include "base/result.h"

namespace kin::dedup {

// Records of one size in kBins bins. append() is thread-safe; reading begins when all writers are
// done and is thread-safe too. Data on disk is framed and checksummed (see docs/formats.md); a
// damaged frame is an error that names the file.
class Spill {
 public:
  static constexpr std::size_t kBins = 256;
  static constexpr std::size_t kBlockBytes = 64 << 10;

  struct Options {
    std::filesystem::path file;    // for records that do not fit; made on first use
    std::size_t record_bytes = 0;  // at most kBlockBytes
    std::uint64_t memory_bytes = 0;
    Disk* disk = &system_disk();
  };

  explicit Spill(Options options);
  ~Spill();

  // Adds whole records to one bin.
  Status append(std::size_t bin, std::string_view records);

  // Changes the limit; takes effect with the next append.
  void limit_memory(std::uint64_t bytes) { memory_limit_ = bytes; }

  // Writes everything to the file, and holds no record in memory until the next append.
  Status move_to_disk();
  // Writes everything to the file and returns once it is durable. reopen() needs the returned
  // length of the file to find exactly these records again.
  Result<std::uint64_t> checkpoint();
  // Loads the first `length` bytes of the file, as checkpoint() left them. For an empty spill.
  Status reopen(std::uint64_t length);

  std::uint64_t bytes(std::size_t bin) const;
  std::uint64_t total_bytes() const;
  std::uint64_t bytes_on_disk() const { return file_length_; }

  // All records of a bin, in no particular order.
  Result<std::string> read(std::size_t bin) const;
  // Visits the records of a bin block by block, each block holding whole records.
  Status visit(std::size_t bin, const std::function<void(std::string_view)>& block) const;
  // Frees a bin's records in memory. The file is removed with the Spill's folder.
  void release(std::size_t bin);

  // Collects records of one thread and passes them on a block at a time. One thread only. A failed
  // append is reported by the next flush(), which must be called before records are read.
  class Writer {
   public:
    explicit Writer(Spill& spill);

    template <typename Record>
    void append(std::size_t bin, const Record& record) {
      static_assert(std::is_trivially_copyable_v<Record>);
      if (staging_.empty()) staging_.resize(kBins * kStagingBytes);
      if (used_[bin] + sizeof record > kStagingBytes) hand_over(bin);
      std::memcpy(staging_.data() + bin * kStagingBytes + used_[bin], &record, sizeof record);
      used_[bin] += sizeof record;
    }
    Status flush();
    // Whether an append has failed since the last flush().
    bool failed() const { return !outcome_.ok(); }

   private:
    // All bins together fit the second-level cache.
    static constexpr std::size_t kStagingBytes = 2 << 10;
    void hand_over(std::size_t bin);

    Spill& spill_;
    std::vector<char> staging_;
    std::array<std::uint32_t, kBins> used_{};
    Status outcome_ = Done{};
  };

 private:
  struct Frame {
    std::uint64_t offset;
    std::uint32_t bytes;
  };
  struct Bin {
    mutable std::mutex mutex;
    std::vector<std::string> blocks;
    std::vector<Frame> frames;
    std::uint64_t bytes = 0;
  };

  Status spill_everything();
  Status write_frame(std::size_t bin, std::string_view records);

  Options options_;
  std::atomic<std::uint64_t> memory_limit_;
  std::atomic<std::uint64_t> memory_used_{0};
  std::array<Bin, kBins> bins_;
  std::mutex file_mutex_;
  std::unique_ptr<DiskFile> file_;
  std::string pending_;  // frames not yet written
  std::atomic<std::uint64_t> file_length_{0};
};

// A frame of a spill file, as encoded bytes: header and records.
std::string encode_spill_frame(std::uint16_t bin, std::string_view records);
struct SpillFrameHeader {
  std::uint16_t bin;
  std::uint32_t bytes;
  std::uint64_t checksum;
};
inline constexpr std::size_t kSpillHeaderBytes = 24;
// The header at the front of `bytes`; an error if there is none or it is damaged.
Result<SpillFrameHeader> decode_spill_header(std::string_view bytes);

}  // namespace kin::dedup
