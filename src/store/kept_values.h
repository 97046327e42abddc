// The values of kept records, on disk, so that the audit log can quote them.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/disk.h"
#include "base/ids.h"
#include "base/result.h"
#include "store/signatures/value_format.h"
#include "store/sorted_slots.h"

namespace kin::store {

struct KeptValuesOptions {
  // The folder that keeps the values; opening it again gives what the last flush() made durable.
  // Nothing: the store is temporary.
  std::optional<std::filesystem::path> path = std::nullopt;
  std::optional<std::filesystem::path> temporary_parent = std::nullopt;
  // Values stay in memory up to this many bytes, then go to disk together. Allocated as it fills.
  std::size_t write_buffer_bytes = std::size_t{1} << 20;
  Disk* disk = &system_disk();
};

struct KeptValuesStats {
  std::uint64_t values = 0;
  std::uint64_t file_bytes = 0;    // headers and replaced values included
  std::uint64_t memory_bytes = 0;  // index and write buffer
  std::uint64_t read_errors = 0;   // requested values that exist but are not readable
};

// Values of 0 bytes to 1 GiB by RecordId. In memory: at most 12 bytes a value above a fixed
// 1 MiB, and the write buffer. Thread-safe: reads run beside each other, appends one at a time.
class KeptValues {
 public:
  static Result<std::unique_ptr<KeptValues>> open(const KeptValuesOptions& options);
  // A kept store is flushed; call flush() to learn whether that works.
  ~KeptValues();
  KeptValues(const KeptValues&) = delete;
  KeptValues& operator=(const KeptValues&) = delete;

  // In any order. A second value for the same record replaces the first, whose bytes on disk stay.
  // After an error nothing has changed, and the call can be repeated.
  Status append(RecordId id, std::string_view value);
  // Nothing if there is none. An error means that it exists but could not be read; it is counted.
  Result<std::optional<std::string>> get(RecordId id) const;
  // Calls visit(id, value) for each of `ids` that exists and is readable, in the order they were
  // appended; neighbours on disk are read together. Unreadable values are counted, not visited.
  // Memory: 16 bytes an id, and 1 MiB or the largest value. visit() must not call this object.
  void get_batch(std::span<const RecordId> ids,
                 const std::function<void(RecordId, std::string_view)>& visit) const;
  bool contains(RecordId id) const;
  std::uint64_t len() const;
  // Removes all values, also from the device. After an error either all values are still here or
  // none, and a crash before the next flush() may lose them.
  Status clear();
  // Makes a kept store durable as it is now; does nothing for a temporary one. If the device fails
  // to sync, every later change of a kept store is refused until it is opened again.
  Status flush();
  KeptValuesStats stats() const;

 private:
  static constexpr int kTableBits = 8;
  static constexpr int kTagBits = 32 - kTableBits;
  using Table = SortedSlots<kTagBits>;
  struct Wanted {
    std::uint64_t offset;
    RecordId id;
  };

  KeptValues(const KeptValuesOptions& options, std::unique_ptr<DiskFile> file);
  Status start();
  Status start_empty(std::string_view contents, std::uint64_t size);
  Status load_index();
  // Writes an index of `tables` for the first `data_bytes` of the file.
  Status write_index(std::uint64_t data_bytes, std::span<const Table> tables) const;
  Status write_blocks(DiskFile& index, std::span<const Table> tables) const;
  Status check_writable() const;
  Status write_buffer_out();
  void remember(RecordId id, std::uint64_t offset);
  std::optional<std::uint64_t> offset_of(RecordId id) const;
  Result<std::string> read_value(Wanted wanted) const;
  void visit_run(std::span<const Wanted> run,
                 const std::function<void(RecordId, std::string_view)>& visit) const;
  std::optional<std::string_view> value_in(std::string_view bytes, std::uint64_t at,
                                           RecordId id) const;

  const KeptValuesOptions options_;
  mutable std::shared_mutex mutex_;
  std::unique_ptr<DiskFile> file_;
  std::vector<Table> tables_;
  std::string buffer_;  // bytes after the first written_ bytes of the file
  std::uint64_t written_ = 0;
  std::uint64_t count_ = 0;
  bool opened_ = false;   // the files are ours, and may be overwritten
  bool changed_ = false;  // since the last flush()
  std::optional<Error> sync_failure_;
  mutable std::atomic<std::uint64_t> read_errors_ = 0;
};

}  // namespace kin::store
