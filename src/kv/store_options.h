// How a store is opened, written and measured.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/disk.h"
#include "base/result.h"

namespace kin::kv {

// A key space within a store. 0 always exists; n is the n-th of StoreOptions::families. A batch may
// change several families, and changes all of them or none.
enum class Family : std::uint32_t {};
inline constexpr Family kMain{0};

// Where one family differs from the store's options.
struct FamilyTuning {
  std::optional<std::uint64_t> write_buffer_bytes = {};
  // Values of at least this size are stored in separate blob files, which merging does not rewrite;
  // 0: none. Reading such a value costs one more read. The space of overwritten and removed values
  // is reclaimed as their file grows old.
  std::uint64_t apart_from_bytes = 0;
  // Files are merged with others of about their size only. For keys that come in no order: each is
  // rewritten a few times instead of dozens, and a look-up asks the filters of more files.
  bool merge_alike = false;
};

// Receives committed batches as bytes (kv/shipped_batch.h), in the order of their commits and before
// the call that wrote them returns. It must be quick and not use the store; one call at a time.
using BatchObserver = std::function<void(std::string batch)>;

struct StoreOptions {
  enum class Mode : std::uint8_t {
    kOpenOrMake,
    kOpen,  // kNotFound if there is no store
    kFresh  // empties an existing store; to be repeated if a crash interrupts it
  };
  enum class Engine : std::uint8_t {
    kRocksDb,  // RocksDB without compression
    kLog       // all rows in memory and a log on disk; without threads, so runs are reproducible
  };
  Mode mode = Mode::kOpenOrMake;
  // Names of the families beside the main one. New ones are created.
  std::vector<std::string> families = {};
  std::map<std::string, FamilyTuning> tuning = {};  // by name of family; RocksDB only
  // Bits per key of the Bloom filters of files and write buffers; 0: no filters. RocksDB only.
  int bloom_bits = 10;
  std::uint64_t block_cache_bytes = std::uint64_t{32} << 20;  // RocksDB only
  std::uint64_t write_buffer_bytes = std::uint64_t{64}
                                     << 20;  // per family, up to two; RocksDB only
  // Limit of the log that is read again after a crash; beyond it the store writes its rows out.
  // 0: a multiple of all write buffers, or of the rows.
  std::uint64_t log_bytes = 0;
  int background_jobs = 2;  // RocksDB only
  Engine engine = Engine::kRocksDb;
  Disk* disk = nullptr;  // nullptr: the system's. Must outlive the store
  // RocksDB's threads sleep by it: for a second after a failure, so that they do not try again at
  // once. nullptr: the machine's. Must outlive the store.
  Clock* clock = nullptr;
  BatchObserver observer = {};  // with one, writers wait for each other; nothing: no cost
};

struct WriteOptions {
  // Return once the batch is on the device. Without it a crash of the machine may lose the batch
  // and every later one; a crash of the process does not.
  bool sync = true;
  // Without `log` and `sync` the batch is safe once flush() has returned. RocksDB then writes large
  // values once instead of twice. Later batches may survive a crash without it.
  bool log = true;
};

// Approximate figures.
struct StoreUsage {
  std::uint64_t keys = 0;
  std::uint64_t write_buffer_bytes = 0;  // in memory
  std::uint64_t table_index_bytes = 0;   // in memory: filters and indexes of open files
  std::uint64_t block_cache_bytes = 0;   // in memory
  std::uint64_t disk_bytes = 0;          // all files, the log and large values included
  std::uint64_t memory_bytes() const {
    return write_buffer_bytes + table_index_bytes + block_cache_bytes;
  }
};

// Keys in [from, to); without `to`: up to the last key.
struct KeyRange {
  std::string from = {};
  std::optional<std::string> to = {};
};
// All keys that start with `prefix`.
KeyRange keys_with(std::string_view prefix);

// Gives one row after another, then nothing. The views of a row are valid until the next call.
struct Row {
  std::string_view key;
  std::string_view value;
};
using NextRow = std::function<Result<std::optional<Row>>()>;

}  // namespace kin::kv
