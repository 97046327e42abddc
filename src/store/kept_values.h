// The values of the records that were kept, on disk, so that the audit log can quote them.
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

#include "base/ids.h"
#include "base/result.h"
#include "store/block_file.h"
#include "store/signatures/value_format.h"
#include "store/sorted_slots.h"

namespace kin::store {

struct KeptValuesOptions {
  // Nothing: temporary. Given: the folder that keeps the values, opened again with what it held at
  // the last flush().
  std::optional<std::filesystem::path> path = std::nullopt;
  std::optional<std::filesystem::path> temporary_parent = std::nullopt;
  std::size_t write_buffer_bytes = std::size_t{1} << 20;
  OpenBlockFile open_file = open_block_file;
};

struct KeptValuesStats {
  std::uint64_t values = 0;
  std::uint64_t file_bytes = 0;    // headers and replaced values included
  std::uint64_t memory_bytes = 0;  // index and write buffer
  std::uint64_t read_errors = 0;   // values asked for and there, but not readable
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
  Status append(RecordId id, std::string_view value);
  // Nothing if there is none. An error means it is there and could not be read; it is counted.
  Result<std::optional<std::string>> get(RecordId id) const;
  // Calls visit(id, value) for each of `ids` that is there and readable, in the order they were
  // appended, neighbours on disk read together. What is not readable is counted, not visited.
  // Memory: 16 bytes an id, and 1 MiB or the largest value. visit() must not call this object.
  void get_batch(std::span<const RecordId> ids,
                 const std::function<void(RecordId, std::string_view)>& visit) const;
  bool contains(RecordId id) const;
  std::uint64_t len() const;
  // Forgets everything, also on the device.
  Status clear();
  // Makes a kept store durable as it is now; does nothing for a temporary one.
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

  KeptValues(const KeptValuesOptions& options, std::unique_ptr<BlockFile> file);
  Status start();
  Status load_index();
  Status write_index() const;
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
  std::unique_ptr<BlockFile> file_;
  std::vector<Table> tables_;
  std::string buffer_;  // what comes after the first written_ bytes of the file
  std::uint64_t written_ = 0;
  std::uint64_t count_ = 0;
  bool opened_ = false;  // what is on the device is ours, and may be written over
  mutable std::atomic<std::uint64_t> read_errors_ = 0;
};

}  // namespace kin::store
