#include "kv/key_value_store.h"

#include <fmt/format.h>

#include <algorithm>

#include "kv/engine/engine.h"
#include "kv/log/store.h"
#include "kv/rocks/store.h"

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

KeyRange keys_with(std::string_view prefix) {
  std::string end(prefix);
  while (!end.empty() && end.back() == '\xff') end.pop_back();
  if (end.empty()) return {.from = std::string(prefix)};
  end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  return {.from = std::string(prefix), .to = std::move(end)};
}

Batch::Batch(const KeyValueStore& store) : engine_(store.engine_->batch()) {}
Batch::Batch(Batch&&) noexcept = default;
Batch& Batch::operator=(Batch&&) noexcept = default;
Batch::~Batch() = default;

void Batch::put(std::string_view key, std::string_view value, Family family) {
  engine_->put(key, value, family);
}

void Batch::remove(std::string_view key, Family family) {
  engine_->remove(key, family);
}

void Batch::remove_range(std::string_view from, std::string_view to, Family family) {
  if (from < to) engine_->remove_range(from, to, family);
}

void Batch::clear() {
  engine_->clear();
}

std::size_t Batch::size() const {
  return engine_->size();
}

std::size_t Batch::bytes() const {
  return engine_->bytes();
}

Cursor::Cursor(std::unique_ptr<EngineCursor> engine) : engine_(std::move(engine)) {}
Cursor::Cursor(Cursor&&) noexcept = default;
Cursor& Cursor::operator=(Cursor&&) noexcept = default;
Cursor::~Cursor() = default;

bool Cursor::valid() const {
  return engine_->valid();
}

std::string_view Cursor::key() const {
  return engine_->key();
}

std::string_view Cursor::value() const {
  return engine_->value();
}

void Cursor::next() {
  engine_->next();
}

void Cursor::seek(std::string_view key) {
  engine_->seek(key);
}

Status Cursor::status() const {
  return engine_->status();
}

Snapshot::Snapshot(const KeyValueStore& store) : engine_(store.engine_->snapshot()) {}
Snapshot::Snapshot(Snapshot&&) noexcept = default;
Snapshot& Snapshot::operator=(Snapshot&&) noexcept = default;
Snapshot::~Snapshot() = default;

Result<std::optional<std::string>> Snapshot::get(std::string_view key, Family family) const {
  return engine_->get(key, family);
}

Result<std::vector<std::optional<std::string>>> Snapshot::get_many(
    std::span<const std::string> keys, Family family) const {
  return engine_->get_many(keys, family);
}

Cursor Snapshot::cursor(const KeyRange& range, Family family) const {
  return Cursor(engine_->cursor(range, family));
}

KeyValueStore::KeyValueStore(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}
KeyValueStore::~KeyValueStore() = default;

Result<std::unique_ptr<KeyValueStore>> KeyValueStore::open(const fs::path& folder,
                                                           const StoreOptions& options) {
  KIN_RETURN_IF_ERROR(check_names(options));
  KIN_RETURN_IF_ERROR(check_engine(folder, options));
  KIN_TRY(const bool there, has_store(options.engine, disk_of(options), folder));
  if (options.mode == StoreOptions::Mode::kOpen && !there) return no_store(folder);
  KIN_TRY(auto engine, options.engine == StoreOptions::Engine::kLog ? open_log(folder, options)
                                                                    : open_rocks(folder, options));
  return std::unique_ptr<KeyValueStore>(new KeyValueStore(std::move(engine)));
}

Result<std::optional<std::string>> read_value(const fs::path& folder, std::string_view key,
                                              const StoreOptions& options) {
  KIN_TRY(const bool there, has_store(options.engine, disk_of(options), folder));
  if (!there) return no_store(folder);
  return options.engine == StoreOptions::Engine::kLog ? read_log_value(folder, key, options)
                                                      : read_rocks_value(folder, key, options);
}

Status KeyValueStore::write(const Batch& batch, const WriteOptions& options) {
  return engine_->write(*batch.engine_, options);
}

Status KeyValueStore::ingest(const NextRow& next, Family family) {
  return engine_->ingest(next, family);
}

Result<std::optional<std::string>> KeyValueStore::get(std::string_view key, Family family) const {
  return engine_->get(key, family);
}

Result<std::vector<std::optional<std::string>>> KeyValueStore::get_many(
    std::span<const std::string> keys, Family family) const {
  return engine_->get_many(keys, family);
}

Cursor KeyValueStore::cursor(const KeyRange& range, Family family) const {
  return Cursor(engine_->cursor(range, family));
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

Status KeyValueStore::flush() {
  return engine_->flush();
}

Status KeyValueStore::compact() {
  return engine_->compact();
}

Status KeyValueStore::checkpoint(const fs::path& folder) {
  return engine_->checkpoint(folder);
}

StoreUsage KeyValueStore::usage() const {
  return engine_->usage();
}

Status KeyValueStore::close() {
  return engine_->close();
}

}  // namespace kin::kv
