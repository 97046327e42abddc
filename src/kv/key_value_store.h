// A sorted map from keys to values, in a folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kv/engine/engine.h"
#include "kv/store_options.h"

namespace kin::kv {

class KeyValueStore;

// Changes that take effect together. The last change to a key wins. One thread at a time; must not
// outlive its store.
class Batch {
 public:
  explicit Batch(const KeyValueStore& store);

  void put(std::string_view key, std::string_view value, Family family = kMain) {
    engine_->put(key, value, family);
    if (shipped_) ship_put(key, value, family);
  }
  // Removing a missing key is not an error.
  void remove(std::string_view key, Family family = kMain) {
    engine_->remove(key, family);
    if (shipped_) ship_remove(key, family);
  }
  // Removes every key in [from, to). Nothing if `to` is not greater than `from`.
  void remove_range(std::string_view from, std::string_view to, Family family = kMain) {
    if (!(from < to)) return;
    engine_->remove_range(from, to, family);
    if (shipped_) ship_remove_range(from, to, family);
  }
  void clear() {
    engine_->clear();
    if (shipped_) shipped_->clear();
  }
  std::size_t size() const { return engine_->size(); }    // number of changes
  std::size_t bytes() const { return engine_->bytes(); }  // memory of the changes

 private:
  friend class KeyValueStore;
  void ship_put(std::string_view key, std::string_view value, Family family);
  void ship_remove(std::string_view key, Family family);
  void ship_remove_range(std::string_view from, std::string_view to, Family family);

  std::unique_ptr<EngineBatch> engine_;
  std::optional<std::string> shipped_;  // the same changes, if the store has an observer
};

// Walks the keys of a range in order, as they were when the cursor was made. One thread only; must
// not outlive its store or snapshot.
//
//   Cursor at = store.cursor(keys_with("doc:"));
//   for (; at.valid(); at.next()) use(at.key(), at.value());
//   KIN_RETURN_IF_ERROR(at.status());
class Cursor {
 public:
  explicit Cursor(std::unique_ptr<EngineCursor> engine) : engine_(std::move(engine)) {}

  // True at a key. Once false, status() tells the end of the range from an error.
  bool valid() const { return engine_->valid(); }
  // The views are valid until the cursor moves.
  std::string_view key() const { return engine_->key(); }
  std::string_view value() const { return engine_->value(); }
  void next() { engine_->next(); }
  // Moves to the first key of the range that is not less than `key`, forwards or backwards.
  void seek(std::string_view key) { engine_->seek(key); }
  Status status() const { return engine_->status(); }

 private:
  std::unique_ptr<EngineCursor> engine_;
};

// The contents of a store at one moment. A batch is in it as a whole or not at all. Thread-safe;
// must not outlive its store, which keeps overwritten values for it.
class Snapshot {
 public:
  explicit Snapshot(const KeyValueStore& store);

  Result<std::optional<std::string>> get(std::string_view key, Family family = kMain) const {
    return engine_->get(key, family);
  }
  // In the order of `keys`.
  Result<std::vector<std::optional<std::string>>> get_many(std::span<const std::string> keys,
                                                           Family family = kMain) const {
    return engine_->get_many(keys, family);
  }
  Cursor cursor(const KeyRange& range, Family family = kMain) const {
    return Cursor(engine_->cursor(range, family));
  }

 private:
  std::unique_ptr<const EngineReader> engine_;
};

// The value of a key of the main family, read from the files of a store without opening it. Works
// while the store is open elsewhere, and then gives what is written there. kNotFound if there is no
// store. Only the engine and the disk of `options` are used. Thread-safe.
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
  KeyValueStore(const KeyValueStore&) = delete;
  KeyValueStore& operator=(const KeyValueStore&) = delete;

  // Applies the whole batch or nothing. The batch is not changed.
  Status write(const Batch& batch, const WriteOptions& options = {}) {
    return observer_ ? write_observed(batch, options) : engine_->write(*batch.engine_, options);
  }

  // Puts rows whose keys strictly ascend, all or none, on the device when it returns; cheaper than
  // batches for many rows. kInvalidArgument if keys do not ascend; an error of `next` is returned.
  // With an observer the rows are one batch.
  Status ingest(const NextRow& next, Family family = kMain) {
    return observer_ ? ingest_observed(next, family) : engine_->ingest(next, family);
  }

  Result<std::optional<std::string>> get(std::string_view key, Family family = kMain) const {
    return engine_->get(key, family);
  }
  // In the order of `keys`.
  Result<std::vector<std::optional<std::string>>> get_many(std::span<const std::string> keys,
                                                           Family family = kMain) const {
    return engine_->get_many(keys, family);
  }
  Cursor cursor(const KeyRange& range, Family family = kMain) const {
    return Cursor(engine_->cursor(range, family));
  }
  // found[i] = 1 if keys[i] exists, else 0. `found` is as long as `keys`.
  Status contains_many(std::span<const std::string_view> keys, std::span<std::uint8_t> found,
                       Family family = kMain) const;
  // Visits every key that starts with `prefix`, in order, as of the call. The views are valid
  // during the visit. Stops at the first error that `visit` returns.
  using Visit = std::function<Status(std::string_view key, std::string_view value)>;
  Status for_each(std::string_view prefix, const Visit& visit, Family family = kMain) const;

  // Brings every acknowledged batch to the device, also those written without log or sync.
  Status flush() { return engine_->flush(); }
  // Merges each family into one level: the least disk space and the fastest look-ups.
  Status compact() { return engine_->compact(); }
  // Writes a consistent copy of the store to `folder`, which can be opened on its own. `folder`
  // must be missing or empty (kFailedPrecondition). On the system's disk large files are
  // hard-linked where possible. After an error or a crash `folder` holds no store.
  Status checkpoint(const std::filesystem::path& folder) { return engine_->checkpoint(folder); }
  // The family of this name, of those that were asked for; the main one is "default".
  std::optional<Family> family_of(std::string_view name) const;
  // Usage of all families together.
  StoreUsage usage() const { return engine_->usage(); }
  // Waits for background work and releases the folder. Nothing else may be called afterwards.
  Status close() { return engine_->close(); }

 private:
  friend class Batch;
  friend class Snapshot;
  KeyValueStore(std::unique_ptr<Engine> engine, const StoreOptions& options);
  Status write_observed(const Batch& batch, const WriteOptions& options);
  Status ingest_observed(const NextRow& next, Family family);

  std::unique_ptr<Engine> engine_;
  const std::vector<std::string> families_;  // that were asked for, by number
  const BatchObserver observer_;
  std::mutex observing_;  // held from a write until its batch was handed over
};

}  // namespace kin::kv
