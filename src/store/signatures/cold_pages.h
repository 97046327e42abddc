// The cold part of a signature store: pages in the slots of a file.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "store/signatures/format.h"
#include "store/signatures/store_file.h"

namespace kin::store {

// A page to write. `old_slot` is the slot of an older version, or kNoSlot; `slot` and `checksum`
// are filled in when it has been written.
struct PageWrite {
  std::uint32_t page = 0;
  std::uint32_t old_slot = 0;
  const std::uint8_t* data = nullptr;
  std::uint32_t slot = 0;
  std::uint64_t checksum = 0;
};

// A page to read. `tag` is the caller's own.
struct PageRead {
  std::uint32_t page = 0;
  std::uint32_t slot = 0;
  std::uint64_t checksum = 0;
  std::uint32_t tag = 0;
};

// Pages that the last commit() made durable are never overwritten before the next one, so a killed
// store reopens as of that commit. After a failed commit() the state of the device is unknown;
// every later one fails, and the store must be opened again. Reads may run at the same time as
// other reads; every other call needs exclusive access.
class ColdPages {
 public:
  // `loaded` becomes the manifest of the existing store; empty for a new or temporary one.
  static Result<std::unique_ptr<ColdPages>> open(const StorePlace& place,
                                                 std::uint32_t signature_bytes,
                                                 SignatureManifest& loaded);

  // Writes `pages`, neighbours together. After an error pages with slot != kNoSlot are written.
  Status write(std::span<PageWrite> pages);
  // Calls visit(page, its bytes) in the order of the file, with null for a page that could not be
  // read or fails its checksum. Returns the first failure. Sorts `pages`.
  Status read(std::span<PageRead> pages,
              const std::function<void(const PageRead&, const std::uint8_t*)>& visit) const;
  void release(std::uint32_t slot);
  // Makes exactly `pages` durable. Does nothing for a temporary store.
  Status commit(std::vector<ManifestPage> pages);
  // Drops every page. A kept store keeps them on the device until commit().
  Status clear();
  // An error after a failed commit(): write() and clear() must not be called any more.
  Status check_writable() const;

  std::size_t page_bytes() const { return page_bytes_; }
  std::uint64_t reads() const { return reads_.load(std::memory_order_relaxed); }
  std::uint64_t bytes_read() const { return bytes_read_.load(std::memory_order_relaxed); }
  std::uint64_t bytes_written() const { return bytes_written_; }
  std::uint64_t file_bytes() const { return offset_of(slots_); }
  std::size_t memory_bytes() const;

 private:
  ColdPages(std::unique_ptr<DiskFile> file, std::uint32_t signature_bytes, const StorePlace& place);
  Status start(SignatureManifest& loaded);
  Status start_empty(std::string_view contents, std::uint64_t size);
  Status make_durable(const SignatureManifest& manifest);
  std::uint64_t offset_of(std::uint32_t slot) const {
    return kPagesHeaderBytes + std::uint64_t{slot} * page_bytes_;
  }
  std::uint32_t slot_for(std::uint32_t old_slot);
  bool durable(std::uint32_t slot) const { return slot < durable_.size() && durable_[slot]; }
  void set_durable(const std::vector<ManifestPage>& pages);
  void free_all_but_durable();
  Status write_run(std::span<PageWrite> run);
  Status read_run(std::span<const PageRead> run, std::uint8_t* buffer,
                  const std::function<void(const PageRead&, const std::uint8_t*)>& visit) const;
  Status read_slots(std::uint32_t first, std::uint32_t count, std::uint8_t* to) const;
  std::size_t run_pages() const;

  std::unique_ptr<DiskFile> file_;
  const StorePlace place_;
  std::uint32_t signature_bytes_;
  std::size_t page_bytes_;
  std::uint32_t slots_ = 0;
  std::vector<std::uint32_t> free_;  // descending once sorted, so that the lowest is taken first
  bool free_sorted_ = true;
  std::vector<bool> durable_;  // slots that the manifest on the device names
  std::optional<Error> commit_failure_;
  std::vector<char> write_buffer_;
  std::uint64_t bytes_written_ = 0;
  mutable std::atomic<std::uint64_t> reads_ = 0;
  mutable std::atomic<std::uint64_t> bytes_read_ = 0;
};

}  // namespace kin::store
