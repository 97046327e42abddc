#include "kv/key_value_store.h"

#include <fmt/format.h>

#include <algorithm>

#include "kv/engine/shared.h"
#include "kv/log/format.h"
#include "kv/log/store.h"
#include "kv/rocks/store.h"
#include "kv/shipped_batch.h"

namespace kin::kv {
namespace {

namespace fs = std::filesystem;

Status check_names(const StoreOptions& options) {
  std::vector<std::string> names = options.families;
  names.emplace_back(kMainName);
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice == names.end()) return Done{};
  return Error{Code::kInvalidArgument, fmt::format("the family {} is named twice", *twice)};
}

Result<bool> has_store(StoreOptions::Engine engine, Disk& disk, const fs::path& folder) {
  switch (engine) {
    case StoreOptions::Engine::kRocksDb: return disk.exists(folder / kRocksFile);
    case StoreOptions::Engine::kLog: return disk.exists(folder / kLogFile);
  }
  KIN_UNREACHABLE();
}

// One engine must not build a store beside that of the other.
Status check_engine(const fs::path& folder, const StoreOptions& options) {
  using Engine = StoreOptions::Engine;
  const Engine other = options.engine == Engine::kLog ? Engine::kRocksDb : Engine::kLog;
  KIN_TRY(const bool there, has_store(other, disk_of(options), folder));
  if (!there) return Done{};
  return Error{Code::kFailedPrecondition,
               fmt::format("{} holds a store of another engine (open it with that one, or choose "
                           "another folder)",
                           folder.string())};
}

Error no_store(const fs::path& folder) {
  return {Code::kNotFound, fmt::format("there is no store in {}", folder.string())};
}

}  // namespace

// The range ends at the first key after all keys with the prefix: the prefix with its last byte
// incremented. 0xff cannot be incremented and is dropped; a prefix of 0xff only has no end.
KeyRange keys_with(std::string_view prefix) {
  std::string end(prefix);
  while (!end.empty() && end.back() == '\xff') end.pop_back();
  if (end.empty()) return {.from = std::string(prefix)};
  end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  return {.from = std::string(prefix), .to = std::move(end)};
}

Batch::Batch(const KeyValueStore& store) : engine_(store.engine_->batch()) {
  if (store.observer_) shipped_.emplace();
}

void Batch::ship_put(std::string_view key, std::string_view value, Family family) {
  append_change(*shipped_,
                {LogChange::Kind::kPut, static_cast<std::uint32_t>(family), key, value});
}

void Batch::ship_remove(std::string_view key, Family family) {
  append_change(*shipped_,
                {LogChange::Kind::kRemove, static_cast<std::uint32_t>(family), key, {}});
}

void Batch::ship_remove_range(std::string_view from, std::string_view to, Family family) {
  append_change(*shipped_,
                {LogChange::Kind::kRemoveRange, static_cast<std::uint32_t>(family), from, to});
}

KeyValueStore::KeyValueStore(std::unique_ptr<Engine> engine, const StoreOptions& options)
    : engine_(std::move(engine)),
      families_(family_names(options, {})),
      observer_(options.observer) {}

std::optional<Family> KeyValueStore::family_of(std::string_view name) const {
  const auto found = std::ranges::find(families_, name);
  if (found == families_.end()) return {};
  return Family{static_cast<std::uint32_t>(found - families_.begin())};
}

Status KeyValueStore::write_observed(const Batch& batch, const WriteOptions& options) {
  std::string bytes;
  if (!batch.shipped_->empty()) bytes = encode_shipped(families_, *batch.shipped_);
  const std::lock_guard lock(observing_);
  KIN_RETURN_IF_ERROR(engine_->write(*batch.engine_, options));
  if (!bytes.empty()) observer_(std::move(bytes));
  return Done{};
}

Status KeyValueStore::ingest_observed(const NextRow& next, Family family) {
  Batch batch(*this);
  std::optional<std::string> last;
  for (;;) {
    KIN_TRY(const auto row, next());
    if (!row) break;
    if (last && row->key <= *last)
      return Error{Code::kInvalidArgument, "the keys of ingested rows do not ascend"};
    last = row->key;
    batch.put(row->key, row->value, family);
  }
  return batch.size() > 0 ? write_observed(batch, {.sync = true}) : Status(Done{});
}

Snapshot::Snapshot(const KeyValueStore& store) : engine_(store.engine_->snapshot()) {}

Result<std::unique_ptr<KeyValueStore>> KeyValueStore::open(const fs::path& folder,
                                                           const StoreOptions& options) {
  KIN_RETURN_IF_ERROR(check_names(options));
  KIN_RETURN_IF_ERROR(check_engine(folder, options));
  // Asked before an engine is opened: opening makes the folder and its lock file, even if it fails.
  KIN_TRY(const bool there, has_store(options.engine, disk_of(options), folder));
  if (options.mode == StoreOptions::Mode::kOpen && !there) return no_store(folder);
  KIN_TRY(auto engine, options.engine == StoreOptions::Engine::kLog ? open_log(folder, options)
                                                                    : open_rocks(folder, options));
  return std::unique_ptr<KeyValueStore>(new KeyValueStore(std::move(engine), options));
}

Result<std::optional<std::string>> read_value(const fs::path& folder, std::string_view key,
                                              const StoreOptions& options) {
  KIN_TRY(const bool there, has_store(options.engine, disk_of(options), folder));
  if (!there) return no_store(folder);
  return options.engine == StoreOptions::Engine::kLog ? read_log_value(folder, key, options)
                                                      : read_rocks_value(folder, key, options);
}

Status KeyValueStore::contains_many(std::span<const std::string_view> keys,
                                    std::span<std::uint8_t> found, Family family) const {
  KIN_CHECK(keys.size() == found.size(), "an answer for every key");
  return engine_->contains_many(keys, found, family);
}

Status KeyValueStore::for_each(std::string_view prefix, const Visit& visit, Family family) const {
  Cursor at = cursor(keys_with(prefix), family);
  for (; at.valid(); at.next()) KIN_RETURN_IF_ERROR(visit(at.key(), at.value()));
  return at.status();
}

}  // namespace kin::kv
