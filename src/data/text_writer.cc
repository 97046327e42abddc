#include "data/text_writer.h"

#include <algorithm>
#include <cstring>

#include "base/workers.h"
#include "data/block_reader.h"
#include "data/text_scan.h"

namespace kin::data {
namespace {

// Gives out places in the output in the order of the blocks, whichever is ready first.
// Thread-safe.
class Places {
 public:
  explicit Places(std::uint64_t first) : next_place_(first) {}

  // The place of `bytes` bytes for block `number`; waits for the blocks before it. Nothing if
  // one of them failed.
  std::optional<std::uint64_t> take(std::uint64_t number, std::uint64_t bytes) {
    std::unique_lock lock(mutex_);
    turn_.wait(lock, [&] { return failed_ || next_block_ == number; });
    if (failed_) return {};
    ++next_block_;
    turn_.notify_all();
    return std::exchange(next_place_, next_place_ + bytes);
  }
  void fail() {
    const std::scoped_lock lock(mutex_);
    failed_ = true;
    turn_.notify_all();
  }
  std::uint64_t end() const {
    const std::scoped_lock lock(mutex_);
    return next_place_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable turn_;
  std::uint64_t next_block_ = 0;
  std::uint64_t next_place_;
  bool failed_ = false;
};

struct Kept {
  std::string_view bytes;
  std::uint64_t records = 0;
};

// Moves the kept records to the front of the block.
Kept compact(Block& block, const RecordSet& keep, const SkipLog& skipped) {
  char* const bytes = block.bytes.data();
  std::size_t end = 0;
  std::uint64_t records = 0;
  std::size_t run_begin = 0;
  std::size_t run_end = 0;
  const auto flush = [&] {
    if (run_begin != end) std::memmove(bytes + end, bytes + run_begin, run_end - run_begin);
    end += run_end - run_begin;
  };
  for (std::size_t i = 0; i < block.records.size(); ++i) {
    const RecordId row = record_at(block.first_row + i);
    if (!keep.contains(row) || skipped.contains(row)) continue;
    ++records;
    if (block.records[i].begin != run_end) {
      flush();
      run_begin = block.records[i].begin;
    }
    run_end = block.records[i].end;
  }
  flush();
  // The padding behind the block has room for the line end that the file's last line may lack.
  if (end > 0 && bytes[end - 1] != '\n') bytes[end++] = '\n';
  return {{bytes, end}, records};
}

}  // namespace

Result<TextWritten> write_text(std::span<const Input> inputs, const RecordSet& keep,
                               const SkipLog& skipped, const std::filesystem::path& path,
                               const TextWriteOptions& options) {
  KIN_TRY(File file, File::create(path));
  Compressor header_compressor(options.compression);
  std::string_view header;
  if (!options.header.empty()) {
    KIN_TRY(header, header_compressor.pack(options.header));
    KIN_RETURN_IF_ERROR(file.write_at(0, header));
  }
  BlockReader blocks(inputs, {.start = {}, .block_bytes = kTextBlockBytes, .pause = {}});
  Places places(header.size());
  std::atomic<std::uint64_t> records{0};
  const auto write_blocks = [&](int) -> Status {
    Compressor compressor(options.compression);
    Block block;
    for (;;) {
      KIN_TRY(const bool any, blocks.next(block));
      if (!any) return Done{};
      const Kept kept = compact(block, keep, skipped);
      std::string_view packed;
      if (!kept.bytes.empty()) {
        KIN_TRY(packed, compressor.pack(kept.bytes));
      }
      const auto place = places.take(block.number, packed.size());
      if (!place) return Done{};
      KIN_RETURN_IF_ERROR(file.write_at(*place, packed));
      records += kept.records;
    }
  };
  KIN_RETURN_IF_ERROR(run_workers(std::max(options.threads, 1), [&](int worker) -> Status {
    Status status = write_blocks(worker);
    if (!status) places.fail();
    return status;
  }));
  KIN_RETURN_IF_ERROR(file.close());
  return TextWritten{records, places.end()};
}

}  // namespace kin::data
