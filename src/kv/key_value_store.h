// A sorted map from keys to values, in a folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/disk.h"
#include "base/result.h"

namespace kin::kv {

// What an engine implements (kv/engine/engine.h).
class Engine;
class EngineBatch;
class EngineCursor;
class EngineReader;

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
};

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
  std::uint64_t disk_bytes = 0;          // live files, without RocksDB's log
  std::uint64_t memory_bytes() const {
    return write_buffer_bytes + table_index_bytes + block_cache_bytes;
  }
};

class KeyValueStore;

// Changes that take effect together. The last change to a key wins. One thread at a time; must not
// outlive its store.
class Batch {
 public:
  explicit Batch(const KeyValueStore& store);
  Batch(Batch&&) noexcept;
  Batch& operator=(Batch&&) noexcept;
  ~Batch();

  void put(std::string_view key, std::string_view value, Family family = kMain);
  // Removing a missing key is not an error.
  void remove(std::string_view key, Family family = kMain);
  // Removes every key in [from, to). Nothing if `to` is not greater than `from`.
  void remove_range(std::string_view from, std::string_view to, Family family = kMain);
  void clear();
  std::size_t size() const;   // number of changes
  std::size_t bytes() const;  // memory of the changes

 private:
  friend class KeyValueStore;
  std::unique_ptr<EngineBatch> engine_;
};

// Keys in [from, to); without `to`: up to the last key.
struct KeyRange {
  std::string from = {};
  std::optional<std::string> to = {};
};
// All keys that start with `prefix`.
KeyRange keys_with(std::string_view prefix);

// Walks the keys of a range in order, as they were when the cursor was made. One thread only; must
// not outlive its store or snapshot.
//
//   Cursor at = store.cursor(keys_with("doc:"));
//   for (; at.valid(); at.next()) use(at.key(), at.value());
//   KIN_RETURN_IF_ERROR(at.status());
class Cursor {
 public:
  explicit Cursor(std::unique_ptr<EngineCursor> engine);
  Cursor(Cursor&&) noexcept;
  Cursor& operator=(Cursor&&) noexcept;
  ~Cursor();

  // True at a key. Once false, status() tells the end of the range from an error.
  bool valid() const;
  // The views are valid until the cursor moves.
  std::string_view key() const;
  std::string_view value() const;
  void next();
  // Moves to the first key of the range that is not less than `key`, forwards or backwards.
  void seek(std::string_view key);
  Status status() const;

 private:
  std::unique_ptr<EngineCursor> engine_;
};

// The contents of a store at one moment. A batch is in it as a whole or not at all. Thread-safe;
// must not outlive its store, which keeps overwritten values for it.
class Snapshot {
 public:
  explicit Snapshot(const KeyValueStore& store);
  Snapshot(Snapshot&&) noexcept;
  Snapshot& operator=(Snapshot&&) noexcept;
  ~Snapshot();

  Result<std::optional<std::string>> get(std::string_view key, Family family = kMain) const;
  // In the order of `keys`.
  Result<std::vector<std::optional<std::string>>> get_many(std::span<const std::string> keys,
                                                           Family family = kMain) const;
  Cursor cursor(const KeyRange& range, Family family = kMain) const;

 private:
  std::unique_ptr<const EngineReader> engine_;
};

// The value of a key of the main family, read from the files of a store without opening it. Works
// while the store is open elsewhere, and then gives what is written there. kNotFound if there is no
// store. Of `options` only the engine and the disk are used. Thread-safe.
Result<std::optional<std::string>> read_value(const std::filesystem::path& folder,
                                              std::string_view key,
                                              const StoreOptions& options = {});

// Keys are ordered by their bytes; keys and values may be empty. Thread-safe. A folder is open once
// at a time, over all processes (kFailedPrecondition).
//
// After a failed write the store refuses writes until it is opened again; acknowledged batches are
// safe. Damage that a checksum shows is kDataLoss.
//
//   KIN_TRY(auto store, KeyValueStore::open("documents", {.families = {"edges"}}));
//   Batch batch(*store);
//   batch.put("doc:1", text);
//   batch.put("doc:1>doc:2", "", Family{1});
//   KIN_RETURN_IF_ERROR(store->write(batch, {.sync = true}));
class KeyValueStore {
 public:
  static Result<std::unique_ptr<KeyValueStore>> open(const std::filesystem::path& folder,
                                                     const StoreOptions& options);
  ~KeyValueStore();
  KeyValueStore(const KeyValueStore&) = delete;
  KeyValueStore& operator=(const KeyValueStore&) = delete;

  // Applies the whole batch or nothing. The batch is not changed.
  Status write(const Batch& batch, const WriteOptions& options = {});

  // Puts rows whose keys strictly ascend, all or none, on the device when it returns; cheaper than
  // batches for many rows. `next` gives one row after another, then nothing; its views must be
  // valid until it is called again. kInvalidArgument if keys do not ascend; an error of `next` is
  // returned.
  struct Row {
    std::string_view key;
    std::string_view value;
  };
  using NextRow = std::function<Result<std::optional<Row>>()>;
  Status ingest(const NextRow& next, Family family = kMain);

  Result<std::optional<std::string>> get(std::string_view key, Family family = kMain) const;
  // In the order of `keys`.
  Result<std::vector<std::optional<std::string>>> get_many(std::span<const std::string> keys,
                                                           Family family = kMain) const;
  Cursor cursor(const KeyRange& range, Family family = kMain) const;
  // found[i] = 1 if keys[i] exists, else 0. `found` is as long as `keys`.
  Status contains_many(std::span<const std::string_view> keys, std::span<std::uint8_t> found,
                       Family family = kMain) const;
  // Visits every key that starts with `prefix`, in order, as of the call. The views are valid
  // during the visit. Stops at the first error that `visit` returns.
  using Visit = std::function<Status(std::string_view key, std::string_view value)>;
  Status for_each(std::string_view prefix, const Visit& visit, Family family = kMain) const;

  // Brings every acknowledged batch to the device, also those written without log or sync.
  Status flush();
  // Merges each family into one level: the least disk space and the fastest look-ups.
  Status compact();
  // Writes a consistent copy of the store to `folder`, which can be opened on its own. `folder`
  // must be missing or empty (kFailedPrecondition). On the system's disk large files are
  // hard-linked where possible. After an error or a crash `folder` holds no store.
  Status checkpoint(const std::filesystem::path& folder);
  // Of all families together.
  StoreUsage usage() const;
  // Waits for background work and releases the folder. Nothing else may be called afterwards.
  Status close();

 private:
  friend class Batch;
  friend class Snapshot;
  explicit KeyValueStore(std::unique_ptr<Engine> engine);
  std::unique_ptr<Engine> engine_;
};

}  // namespace kin::kv
