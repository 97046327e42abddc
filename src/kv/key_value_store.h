// Where do local bytes live? A sorted map from keys to values, in a folder.
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

#include "base/result.h"

namespace kin::kv {

// A key space of its own within a store: 0 is always there, n is the n-th of
// StoreOptions::families. One batch may touch several, and takes effect in all or in none.
enum class Family : std::uint32_t {};
inline constexpr Family kMain{0};

// Where one family differs from the store's options.
struct FamilyTuning {
  std::optional<std::uint64_t> write_buffer_bytes = {};
  // Values of at least so many bytes are kept apart from the keys, where merging tables does not
  // write them again; 0 is none. Reading one takes a read more. What is overwritten or removed is
  // reclaimed as its file grows old.
  std::uint64_t apart_from_bytes = 0;
};

struct StoreOptions {
  enum class Mode {
    kOpenOrMake,
    kOpen,  // kNotFound if there is no store
    kFresh  // empty: what was there is forgotten
  };
  Mode mode = Mode::kOpenOrMake;
  // Names of the families beside the main one; those that are new are made.
  std::vector<std::string> families = {};
  std::map<std::string, FamilyTuning> tuning = {};  // by name of family
  // A key, of the filters of files; 0 is no filter, of files or of write buffers.
  int bloom_bits = 10;
  std::uint64_t block_cache_bytes = std::uint64_t{32} << 20;
  std::uint64_t write_buffer_bytes = std::uint64_t{64} << 20;  // of each family, up to two of them
  // Of batches that a crash would have to read again; beyond it families are written out. 0: a
  // multiple of all write buffers.
  std::uint64_t log_bytes = 0;
  int background_jobs = 2;
};

struct WriteOptions {
  // Return once the batch is on the device. Otherwise a crash of the machine, but not of the
  // process, may lose it, together with every batch after it.
  bool sync = true;
  // Without it, and without `sync`, the batch is safe once flush() has returned: large values are
  // written once instead of twice. Other batches may come to the device before it.
  bool log = true;
};

// Approximate, as the library tells them.
struct StoreUsage {
  std::uint64_t keys = 0;
  std::uint64_t write_buffer_bytes = 0;  // in memory
  std::uint64_t table_index_bytes = 0;   // in memory: filters and indexes of open files
  std::uint64_t block_cache_bytes = 0;   // in memory
  std::uint64_t disk_bytes = 0;          // of live tables
  std::uint64_t memory_bytes() const {
    return write_buffer_bytes + table_index_bytes + block_cache_bytes;
  }
};

class KeyValueStore;

// Changes that take effect together. Of two to one key the later holds. For one thread at a time,
// and not longer than its store lives.
class Batch {
 public:
  explicit Batch(const KeyValueStore& store);
  Batch(Batch&&) noexcept;
  Batch& operator=(Batch&&) noexcept;
  ~Batch();

  void put(std::string_view key, std::string_view value, Family family = kMain);
  // A key that is not there is no error.
  void remove(std::string_view key, Family family = kMain);
  // Every key from `from` up to, but without, `to`.
  void remove_range(std::string_view from, std::string_view to, Family family = kMain);
  void clear();
  std::size_t size() const;   // changes in it
  std::size_t bytes() const;  // that it takes

 private:
  friend class KeyValueStore;
  struct State;
  std::unique_ptr<State> state_;
};

// From `from` up to, but without, `to`; nothing: to the last key.
struct KeyRange {
  std::string from = {};
  std::optional<std::string> to = {};
};
// All keys that start with `prefix`.
KeyRange keys_with(std::string_view prefix);

// Walks the keys of a range in order, as they were when it was made. One thread only; not longer
// than its store or snapshot lives.
//
//   for (Cursor at = store.cursor(keys_with("doc:")); at.valid(); at.next()) use(at.key());
//   KIN_RETURN_IF_ERROR(at.status());
class Cursor {
 public:
  Cursor(Cursor&&) noexcept;
  Cursor& operator=(Cursor&&) noexcept;
  ~Cursor();

  // Is it at a key? Once it is not, status() says whether that is the end of the range.
  bool valid() const;
  // The views live until the cursor moves.
  std::string_view key() const;
  std::string_view value() const;
  void next();
  // To the first key of the range that is not less than `key`, forwards or backwards.
  void seek(std::string_view key);
  Status status() const;

 private:
  friend class KeyValueStore;
  friend class Snapshot;
  struct State;
  explicit Cursor(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// What a store held at one moment, however it goes on. Batches are in it as a whole or not at all.
// Thread-safe; not longer than its store lives, which keeps what is overwritten for it.
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
  struct State;
  std::unique_ptr<State> state_;
};

// The value of a key of the main family, read from the files of a store that is not opened for it:
// also while it is open elsewhere, as of what is written there. kNotFound if there is no store.
// Thread-safe.
Result<std::optional<std::string>> read_value(const std::filesystem::path& folder,
                                              std::string_view key);

// RocksDB, without compression. Keys are ordered by their bytes; keys and values may be empty.
// Thread-safe. A folder is open once at a time, over all processes (kFailedPrecondition).
//
// After a write that failed the store refuses writes until it is opened again; what was
// acknowledged before is safe. Damage that a checksum shows is kDataLoss.
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

  // All of the batch or nothing. The batch is left as it is.
  Status write(const Batch& batch, const WriteOptions& options = {});

  Result<std::optional<std::string>> get(std::string_view key, Family family = kMain) const;
  // In the order of `keys`.
  Result<std::vector<std::optional<std::string>>> get_many(std::span<const std::string> keys,
                                                           Family family = kMain) const;
  Cursor cursor(const KeyRange& range, Family family = kMain) const;
  // found[i] = 1 if keys[i] is there, 0 if not. `found` is as long as `keys`.
  Status contains_many(std::span<const std::string_view> keys, std::span<std::uint8_t> found,
                       Family family = kMain) const;
  // Every key that starts with `prefix`, in order, as of the call. The views live as long as the
  // visit. Stops at the first error `visit` returns.
  using Visit = std::function<Status(std::string_view key, std::string_view value)>;
  Status for_each(std::string_view prefix, const Visit& visit, Family family = kMain) const;

  // Writes out what is in memory, of all families.
  Status flush();
  // Merges each family into one level: the least disk, and the fastest look-ups.
  Status compact();
  // Of all families together.
  StoreUsage usage() const;
  // Waits for the background work and releases the folder. Nothing else may be called after.
  Status close();

 private:
  friend class Batch;
  friend class Cursor;
  friend class Snapshot;
  struct State;
  explicit KeyValueStore(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace kin::kv
