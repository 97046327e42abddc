// Signatures of many records in bounded memory: a hot part in memory, the rest on disk.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <span>
#include <vector>

#include "base/disk.h"
#include "base/ids.h"
#include "base/result.h"
#include "store/signatures/cold_pages.h"
#include "store/signatures/page_table.h"

namespace kin::store {

using Signature = std::vector<std::uint8_t>;

struct SignatureStoreOptions {
  std::uint32_t signature_bytes = 128;
  // The most signatures to hold in memory. Counted in pages of 64, so a page half full counts
  // whole; rounded up to a page, and at least one.
  std::uint64_t max_hot_signatures = 2'000'000;
  // The folder that keeps the store; opening it again gives what the last flush() made durable.
  // Nothing: the store is temporary.
  std::optional<std::filesystem::path> path = std::nullopt;
  std::optional<std::filesystem::path> temporary_parent = std::nullopt;
  Disk* disk = &system_disk();
};

struct SignatureStoreStats {
  std::uint64_t hot = 0;         // signatures in memory
  std::uint64_t cold = 0;        // signatures on disk alone
  std::uint64_t cold_reads = 0;  // calls to the system
  std::uint64_t cold_bytes = 0;  // read by them
  std::uint64_t cold_bytes_written = 0;
  std::uint64_t cold_read_errors = 0;  // requested signatures that exist but are not readable
  std::uint64_t memory_bytes = 0;      // frames and tables
  std::uint64_t file_bytes = 0;
};

// Signatures of a fixed size by dense RecordId. Thread-safe: reads run in parallel, changes one at
// a time.
//
// The hot part holds the pages of 64 records that were written most recently. When memory is full,
// an eighth of it is written out at once, in large writes in the order of records: full pages
// before partly filled ones (which would be read back to be filled), and of the full ones those
// that were written longest ago and not read since the last eviction. Reading a cold page does not
// make it hot: a batch of look-ups would evict the newest pages, which are read most often, and the
// system's cache already holds pages that are read repeatedly.
//
// Wrong bytes are never returned: every cold page is checked. A signature that cannot be read
// counts in cold_read_errors.
class TieredSignatureStore {
 public:
  static Result<std::unique_ptr<TieredSignatureStore>> open(const SignatureStoreOptions& options);
  // A kept store is flushed; call flush() to learn whether that works.
  ~TieredSignatureStore();
  TieredSignatureStore(const TieredSignatureStore&) = delete;
  TieredSignatureStore& operator=(const TieredSignatureStore&) = delete;

  // Adds or replaces. An error means that a page could not be written out, or that the page of `id`
  // could not be read; nothing is lost, and the call can be repeated.
  Status insert(RecordId id, std::span<const std::uint8_t> signature);
  // ids.size() signatures one after another, under one lock. Fastest if the ids ascend. After an
  // error some may have been added.
  Status insert_batch(std::span<const RecordId> ids, std::span<const std::uint8_t> signatures);

  // Nothing if there is none. An error means that it exists but could not be read.
  Result<std::optional<Signature>> get(RecordId id) const;
  // Many at once: `sorted_ids` ascending and unique, `signatures` of ids × signature_bytes, `found`
  // of one byte per id. Cold pages are read in file order, neighbours in one call. found[i] becomes
  // 1 if ids[i] exists and is readable; else 0, and its bytes do not change. An error means wrong
  // arguments, never a failed read.
  Status get_batch(std::span<const RecordId> sorted_ids, std::span<std::uint8_t> signatures,
                   std::span<std::uint8_t> found) const;
  // Up to `most` existing ids from `first` on, ascending. Reads nothing from disk, like
  // contains().
  std::vector<RecordId> ids_from(RecordId first, std::size_t most) const;
  bool contains(RecordId id) const;
  // True if it existed.
  bool remove(RecordId id);
  std::uint64_t len() const;
  Status clear();
  // Makes a kept store durable as it is now; does nothing for a temporary one. If the device fails
  // to sync, every later change of a kept store is refused until it is opened again.
  Status flush();
  SignatureStoreStats stats() const;
  std::uint32_t signature_bytes() const { return options_.signature_bytes; }

 private:
  struct Frame {
    std::unique_ptr<std::uint8_t[]> data;
    std::uint32_t page = kNoSlot;
    bool dirty = false;
    mutable std::uint8_t read = 0;  // through std::atomic_ref: readers share the lock
    std::uint64_t stamp = 0;        // when it was written to last
  };

  TieredSignatureStore(const SignatureStoreOptions& options, std::unique_ptr<ColdPages> cold,
                       const SignatureManifest& loaded);
  Status insert_into_page(std::uint32_t page, std::span<const RecordId> ids,
                          const std::uint8_t* from);
  Result<Frame*> heat(std::uint32_t page, PageEntry& entry);
  Status load(std::uint32_t page, PageEntry& entry, Frame& frame);
  Result<std::uint32_t> free_frame();
  Status evict();
  std::vector<std::uint32_t> coldest(std::size_t count) const;
  Status write_frames(std::span<const std::uint32_t> frames);
  void drop_frame(PageEntry& entry);
  // The entry of the page of `id` if that has a signature; else null.
  const PageEntry* entry_of(RecordId id) const;
  void collect(std::span<const RecordId> ids, std::size_t first, std::vector<PageRead>& reads,
               std::span<std::uint8_t> signatures, std::span<std::uint8_t> found) const;
  void copy_page(const std::uint8_t* page, const PageEntry& entry, std::span<const RecordId> ids,
                 std::span<std::uint8_t> signatures, std::span<std::uint8_t> found) const;

  const SignatureStoreOptions options_;
  const std::size_t max_frames_;
  mutable std::shared_mutex mutex_;
  std::unique_ptr<ColdPages> cold_;
  PageTable table_;
  std::vector<Frame> frames_;
  std::vector<std::uint32_t> free_frames_;
  std::uint64_t count_ = 0;
  std::uint64_t hot_ = 0;
  std::uint64_t clock_ = 0;
  bool changed_ = false;  // since the last flush()
  mutable std::atomic<std::uint64_t> read_errors_ = 0;
};

}  // namespace kin::store
