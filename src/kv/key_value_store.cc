#include "kv/key_value_store.h"

#include <fmt/format.h>
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>

#include <algorithm>

#include "base/file.h"

namespace kin::kv {
namespace {

namespace fs = std::filesystem;

rocksdb::Slice slice(std::string_view bytes) {
  return {bytes.data(), bytes.size()};
}

std::string_view view(const rocksdb::Slice& bytes) {
  return {bytes.data(), bytes.size()};
}

Code code_of(const rocksdb::Status& status) {
  if (status.IsNoSpace() || status.IsMemoryLimit()) return Code::kResourceExhausted;
  if (status.IsCorruption()) return Code::kDataLoss;
  if (status.IsInvalidArgument() || status.IsNotSupported()) return Code::kInvalidArgument;
  if (status.IsIOError() || status.IsTryAgain() || status.IsBusy()) return Code::kUnavailable;
  return Code::kInternal;
}

Error error_of(const fs::path& folder, const rocksdb::Status& status) {
  const std::string text = status.ToString();
  // The lock has no code of its own: it is an I/O error about the file of this name.
  if (status.IsIOError() && text.find("/LOCK: ") != std::string::npos) {
    return {Code::kFailedPrecondition,
            fmt::format("{} is open elsewhere (close it there first)", folder.string())};
  }
  return {code_of(status), fmt::format("{}: {}", folder.string(), text)};
}

Status outcome(const fs::path& folder, const rocksdb::Status& status) {
  if (status.ok()) return Done{};
  return error_of(folder, status);
}

FamilyTuning tuning_of(const StoreOptions& options, const std::string& name) {
  const auto found = options.tuning.find(name);
  return found == options.tuning.end() ? FamilyTuning{} : found->second;
}

void keep_values_apart(rocksdb::ColumnFamilyOptions& family, std::uint64_t from_bytes) {
  family.enable_blob_files = true;
  family.min_blob_size = from_bytes;
  family.enable_blob_garbage_collection = true;
}

rocksdb::ColumnFamilyOptions family_options(const StoreOptions& options, const FamilyTuning& tuning,
                                            const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = cache;
  table.format_version = 5;
  // Debian's library has CRC-32C without the processor's instruction for it.
  table.checksum = rocksdb::kXXH3;
  rocksdb::ColumnFamilyOptions family;
  if (options.bloom_bits > 0) {
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(options.bloom_bits));
    // Searching the write buffer is dear: without a filter of its own, absent keys take thrice as
    // long.
    family.memtable_whole_key_filtering = true;
    family.memtable_prefix_bloom_size_ratio = 0.05;
  }
  family.compression = rocksdb::kNoCompression;
  family.write_buffer_size = tuning.write_buffer_bytes.value_or(options.write_buffer_bytes);
  if (tuning.apart_from_bytes > 0) keep_values_apart(family, tuning.apart_from_bytes);
  family.level_compaction_dynamic_level_bytes = true;
  family.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return family;
}

rocksdb::DBOptions database_options(const StoreOptions& options) {
  rocksdb::DBOptions database;
  database.create_if_missing = options.mode != StoreOptions::Mode::kOpen;
  database.create_missing_column_families = true;
  database.max_background_jobs = options.background_jobs;
  database.info_log_level = rocksdb::WARN_LEVEL;
  database.keep_log_file_num = 2;
  database.max_total_wal_size = options.log_bytes;
  // Background files go to the device as they are written: a sync of the log would otherwise wait
  // behind all of them.
  database.bytes_per_sync = 1 << 20;
  return database;
}

// The main family, those asked for, and those that are there besides: RocksDB opens all or none.
std::vector<std::string> family_names(const StoreOptions& options, const fs::path& folder) {
  std::vector<std::string> names{rocksdb::kDefaultColumnFamilyName};
  names.insert(names.end(), options.families.begin(), options.families.end());
  std::vector<std::string> present;
  const rocksdb::Status listed =
      rocksdb::DB::ListColumnFamilies(rocksdb::DBOptions(), folder.string(), &present);
  if (!listed.ok()) return names;  // a store that is not there yet; what else is wrong, open() says
  for (std::string& name : present) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(std::move(name));
  }
  return names;
}

Status check_names(const StoreOptions& options) {
  std::vector<std::string> names = options.families;
  names.push_back(rocksdb::kDefaultColumnFamilyName);
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice == names.end()) return Done{};
  return Error{Code::kInvalidArgument, fmt::format("the family {} is named twice", *twice)};
}

// Whoever only reads leaves no log of it in the folder.
class Silence : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char*, va_list) override {}
};

}  // namespace

KeyRange keys_with(std::string_view prefix) {
  std::string end(prefix);
  while (!end.empty() && end.back() == '\xff') end.pop_back();
  if (end.empty()) return {.from = std::string(prefix)};
  end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  return {.from = std::string(prefix), .to = std::move(end)};
}

struct KeyValueStore::State {
  fs::path folder;
  std::shared_ptr<rocksdb::Cache> cache;
  std::unique_ptr<rocksdb::DB> database;
  std::vector<rocksdb::ColumnFamilyHandle*> families;

  ~State() { release(); }

  void release() {
    if (!database) return;
    for (rocksdb::ColumnFamilyHandle* family : families) {
      database->DestroyColumnFamilyHandle(family).PermitUncheckedError();
    }
    families.clear();
  }

  rocksdb::ColumnFamilyHandle* handle(Family family) const {
    const auto number = static_cast<std::size_t>(family);
    KIN_CHECK(number < families.size(), "a family that was not named when the store was opened");
    return families[number];
  }

  Result<std::optional<std::string>> get(const rocksdb::ReadOptions& options, std::string_view key,
                                         Family family) const;
  Result<std::vector<std::optional<std::string>>> get_many(const rocksdb::ReadOptions& options,
                                                           std::span<const std::string> keys,
                                                           Family family) const;
};

Result<std::optional<std::string>> KeyValueStore::State::get(const rocksdb::ReadOptions& options,
                                                             std::string_view key,
                                                             Family family) const {
  std::string value;
  const rocksdb::Status found = database->Get(options, handle(family), slice(key), &value);
  if (found.IsNotFound()) return std::optional<std::string>();
  if (!found.ok()) return error_of(folder, found);
  return std::optional(std::move(value));
}

Result<std::vector<std::optional<std::string>>> KeyValueStore::State::get_many(
    const rocksdb::ReadOptions& options, std::span<const std::string> keys, Family family) const {
  const std::vector<rocksdb::Slice> slices(keys.begin(), keys.end());
  std::vector<rocksdb::PinnableSlice> values(keys.size());
  std::vector<rocksdb::Status> outcomes(keys.size());
  database->MultiGet(options, handle(family), keys.size(), slices.data(), values.data(),
                     outcomes.data());
  std::vector<std::optional<std::string>> found(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (outcomes[i].IsNotFound()) continue;
    if (!outcomes[i].ok()) return error_of(folder, outcomes[i]);
    found[i] = values[i].ToString();
  }
  return found;
}

struct Cursor::State {
  State(const KeyValueStore::State& of, const KeyRange& range, rocksdb::ReadOptions options,
        Family family)
      : store(of), from(range.from), to(range.to) {
    if (to) {
      bound = slice(*to);
      options.iterate_upper_bound = &bound;
    }
    at.reset(store.database->NewIterator(options, store.handle(family)));
    at->Seek(slice(from));
  }
  const KeyValueStore::State& store;
  std::string from;
  std::optional<std::string> to;
  rocksdb::Slice bound;
  std::unique_ptr<rocksdb::Iterator> at;
};

Cursor::Cursor(std::unique_ptr<State> state) : state_(std::move(state)) {}
Cursor::Cursor(Cursor&&) noexcept = default;
Cursor& Cursor::operator=(Cursor&&) noexcept = default;
Cursor::~Cursor() = default;

bool Cursor::valid() const {
  return state_->at->Valid();
}

std::string_view Cursor::key() const {
  return view(state_->at->key());
}

std::string_view Cursor::value() const {
  return view(state_->at->value());
}

void Cursor::next() {
  state_->at->Next();
}

void Cursor::seek(std::string_view key) {
  state_->at->Seek(slice(std::max(key, std::string_view(state_->from))));
}

Status Cursor::status() const {
  return outcome(state_->store.folder, state_->at->status());
}

struct Snapshot::State {
  explicit State(const KeyValueStore::State& of) : store(of), snapshot(of.database->GetSnapshot()) {
    options.snapshot = snapshot;
  }
  ~State() { store.database->ReleaseSnapshot(snapshot); }
  const KeyValueStore::State& store;
  const rocksdb::Snapshot* snapshot;
  rocksdb::ReadOptions options;
};

Snapshot::Snapshot(const KeyValueStore& store) : state_(std::make_unique<State>(*store.state_)) {}
Snapshot::Snapshot(Snapshot&&) noexcept = default;
Snapshot& Snapshot::operator=(Snapshot&&) noexcept = default;
Snapshot::~Snapshot() = default;

Result<std::optional<std::string>> Snapshot::get(std::string_view key, Family family) const {
  return state_->store.get(state_->options, key, family);
}

Result<std::vector<std::optional<std::string>>> Snapshot::get_many(
    std::span<const std::string> keys, Family family) const {
  return state_->store.get_many(state_->options, keys, family);
}

Cursor Snapshot::cursor(const KeyRange& range, Family family) const {
  return Cursor(std::make_unique<Cursor::State>(state_->store, range, state_->options, family));
}

struct Batch::State {
  explicit State(const KeyValueStore::State* of) : store(of) {}
  const KeyValueStore::State* store;
  rocksdb::WriteBatch changes;
};

Batch::Batch(const KeyValueStore& store) : state_(std::make_unique<State>(store.state_.get())) {}
Batch::Batch(Batch&&) noexcept = default;
Batch& Batch::operator=(Batch&&) noexcept = default;
Batch::~Batch() = default;

void Batch::put(std::string_view key, std::string_view value, Family family) {
  const rocksdb::Status added =
      state_->changes.Put(state_->store->handle(family), slice(key), slice(value));
  KIN_CHECK(added.ok(), "a batch without a limit takes every change");
}

void Batch::remove(std::string_view key, Family family) {
  const rocksdb::Status added = state_->changes.Delete(state_->store->handle(family), slice(key));
  KIN_CHECK(added.ok(), "a batch without a limit takes every change");
}

void Batch::remove_range(std::string_view from, std::string_view to, Family family) {
  const rocksdb::Status added =
      state_->changes.DeleteRange(state_->store->handle(family), slice(from), slice(to));
  KIN_CHECK(added.ok(), "a batch without a limit takes every change");
}

void Batch::clear() {
  state_->changes.Clear();
}

std::size_t Batch::size() const {
  return state_->changes.Count();
}

std::size_t Batch::bytes() const {
  return state_->changes.GetDataSize();
}

KeyValueStore::KeyValueStore(std::unique_ptr<State> state) : state_(std::move(state)) {}
KeyValueStore::~KeyValueStore() = default;

Result<std::unique_ptr<KeyValueStore>> KeyValueStore::open(const fs::path& folder,
                                                           const StoreOptions& options) {
  KIN_RETURN_IF_ERROR(check_names(options));
  KIN_TRY(const bool exists, file_exists(folder / "CURRENT"));
  if (options.mode == StoreOptions::Mode::kOpen && !exists) {
    return Error{Code::kNotFound, fmt::format("there is no store in {}", folder.string())};
  }
  if (options.mode == StoreOptions::Mode::kFresh && exists) {
    KIN_RETURN_IF_ERROR(outcome(folder, rocksdb::DestroyDB(folder.string(), rocksdb::Options())));
  }
  auto state = std::make_unique<State>();
  state->folder = folder;
  state->cache = rocksdb::NewLRUCache(options.block_cache_bytes);
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  for (const std::string& name : family_names(options, folder))
    families.emplace_back(name, family_options(options, tuning_of(options, name), state->cache));
  rocksdb::DB* database = nullptr;
  const rocksdb::Status opened = rocksdb::DB::Open(database_options(options), folder.string(),
                                                   families, &state->families, &database);
  if (!opened.ok()) return error_of(folder, opened);
  state->database.reset(database);
  return std::unique_ptr<KeyValueStore>(new KeyValueStore(std::move(state)));
}

Result<std::optional<std::string>> read_value(const fs::path& folder, std::string_view key) {
  KIN_TRY(const bool exists, file_exists(folder / "CURRENT"));
  if (!exists)
    return Error{Code::kNotFound, fmt::format("there is no store in {}", folder.string())};
  rocksdb::Options options;
  options.info_log = std::make_shared<Silence>();
  rocksdb::DB* opened = nullptr;
  const rocksdb::Status found = rocksdb::DB::OpenForReadOnly(options, folder.string(), &opened);
  if (!found.ok()) return error_of(folder, found);
  const std::unique_ptr<rocksdb::DB> database(opened);
  std::string value;
  const rocksdb::Status got = database->Get(rocksdb::ReadOptions(), slice(key), &value);
  if (got.IsNotFound()) return std::optional<std::string>();
  if (!got.ok()) return error_of(folder, got);
  return std::optional(std::move(value));
}

Status KeyValueStore::write(const Batch& batch, const WriteOptions& options) {
  rocksdb::WriteOptions how;
  how.sync = options.sync;
  how.disableWAL = !options.log;
  return outcome(state_->folder, state_->database->Write(how, &batch.state_->changes));
}

Result<std::optional<std::string>> KeyValueStore::get(std::string_view key, Family family) const {
  return state_->get(rocksdb::ReadOptions(), key, family);
}

Result<std::vector<std::optional<std::string>>> KeyValueStore::get_many(
    std::span<const std::string> keys, Family family) const {
  return state_->get_many(rocksdb::ReadOptions(), keys, family);
}

Cursor KeyValueStore::cursor(const KeyRange& range, Family family) const {
  return Cursor(std::make_unique<Cursor::State>(*state_, range, rocksdb::ReadOptions(), family));
}

Status KeyValueStore::contains_many(std::span<const std::string_view> keys,
                                    std::span<std::uint8_t> found, Family family) const {
  KIN_CHECK(keys.size() == found.size(), "an answer for every key");
  std::vector<rocksdb::Slice> slices(keys.size());
  std::transform(keys.begin(), keys.end(), slices.begin(), slice);
  std::vector<rocksdb::PinnableSlice> values(keys.size());
  std::vector<rocksdb::Status> outcomes(keys.size());
  state_->database->MultiGet(rocksdb::ReadOptions(), state_->handle(family), keys.size(),
                             slices.data(), values.data(), outcomes.data());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!outcomes[i].ok() && !outcomes[i].IsNotFound())
      return error_of(state_->folder, outcomes[i]);
    found[i] = outcomes[i].ok() ? 1 : 0;
  }
  return Done{};
}

Status KeyValueStore::for_each(std::string_view prefix, const Visit& visit, Family family) const {
  Cursor at = cursor(keys_with(prefix), family);
  for (; at.valid(); at.next()) KIN_RETURN_IF_ERROR(visit(at.key(), at.value()));
  return at.status();
}

Status KeyValueStore::flush() {
  return outcome(state_->folder,
                 state_->database->Flush(rocksdb::FlushOptions(), state_->families));
}

Status KeyValueStore::compact() {
  rocksdb::CompactRangeOptions options;
  options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
  for (rocksdb::ColumnFamilyHandle* family : state_->families) {
    const rocksdb::Status done = state_->database->CompactRange(options, family, nullptr, nullptr);
    KIN_RETURN_IF_ERROR(outcome(state_->folder, done));
  }
  return Done{};
}

StoreUsage KeyValueStore::usage() const {
  using Properties = rocksdb::DB::Properties;
  const auto sum = [this](const std::string& property) {
    std::uint64_t all = 0;
    for (rocksdb::ColumnFamilyHandle* family : state_->families) {
      std::uint64_t value = 0;
      if (state_->database->GetIntProperty(family, property, &value)) all += value;
    }
    return all;
  };
  return {.keys = sum(Properties::kEstimateNumKeys),
          .write_buffer_bytes = sum(Properties::kCurSizeAllMemTables),
          .table_index_bytes = sum(Properties::kEstimateTableReadersMem),
          .block_cache_bytes = state_->cache->GetUsage(),
          .disk_bytes = sum(Properties::kLiveSstFilesSize)};
}

Status KeyValueStore::close() {
  state_->release();
  const rocksdb::Status closed = state_->database->Close();
  state_->database.reset();
  return outcome(state_->folder, closed);
}

}  // namespace kin::kv
