#include "kv/rocks/store.h"

#include <fmt/format.h>
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/metadata.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <mutex>

#include "kv/engine/shared.h"
#include "kv/rocks/disk_env.h"

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

// A lock that is held has no code of its own: it is an I/O error about the file of this name.
bool is_locked(const rocksdb::Status& status, const std::string& text) {
  return status.IsIOError() && text.find("/LOCK: ") != std::string::npos &&
         text.find("While open a file for lock") == std::string::npos;
}

Error error_of(const fs::path& folder, const rocksdb::Status& status) {
  const std::string text = status.ToString();
  if (is_locked(status, text)) return open_elsewhere(folder);
  return {code_of(status), fmt::format("{}: {}", folder.string(), text)};
}

Status outcome(const fs::path& folder, const rocksdb::Status& status) {
  if (status.ok()) return Done{};
  return error_of(folder, status);
}

// The outcome of a look-up; a missing key is not an error.
Result<std::optional<std::string>> found_value(const fs::path& folder, const rocksdb::Status& found,
                                               std::string value) {
  if (found.ok()) return std::optional(std::move(value));
  if (found.IsNotFound()) return std::optional<std::string>();
  return error_of(folder, found);
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
  // Debian's library computes CRC-32C without the processor's instruction for it.
  table.checksum = rocksdb::kXXH3;
  rocksdb::ColumnFamilyOptions family;
  if (options.bloom_bits > 0) {
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(options.bloom_bits));
    // Without a filter on the write buffer, look-ups of absent keys take three times as long.
    family.memtable_whole_key_filtering = true;
    family.memtable_prefix_bloom_size_ratio = 0.05;
  }
  family.compression = rocksdb::kNoCompression;
  family.write_buffer_size = tuning.write_buffer_bytes.value_or(options.write_buffer_bytes);
  if (tuning.apart_from_bytes > 0) keep_values_apart(family, tuning.apart_from_bytes);
  if (tuning.merge_alike) {
    family.compaction_style = rocksdb::kCompactionStyleUniversal;
    family.compaction_options_universal.min_merge_width = 4;
    family.compaction_options_universal.max_size_amplification_percent = 400;
  }
  // Keeps nine tenths of the data in the last level, so little space goes to overwritten values.
  family.level_compaction_dynamic_level_bytes = true;
  family.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return family;
}

class Silence : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char*, va_list) override {}
};

rocksdb::DBOptions database_options(const StoreOptions& options, rocksdb::Env* env) {
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
  // flush() is the caller's to call; after a failure there is nothing that RocksDB could still do.
  database.avoid_flush_during_shutdown = true;
  database.env = env;
  if (&disk_of(options) != &system_disk()) database.info_log = std::make_shared<Silence>();
  return database;
}

// RocksDB opens all families of a store or none.
std::vector<std::string> families_in(const fs::path& folder, const rocksdb::DBOptions& database) {
  std::vector<std::string> present;
  const rocksdb::Status listed =
      rocksdb::DB::ListColumnFamilies(database, folder.string(), &present);
  if (!listed.ok()) return {};  // a store that does not exist yet; other errors recur in open()
  return present;
}

// An open database, which a store and its snapshots share.
struct Database {
  fs::path folder;
  Disk* disk = nullptr;
  std::unique_ptr<rocksdb::Env> env;
  std::shared_ptr<rocksdb::Cache> cache;
  std::unique_ptr<rocksdb::DB> rocks;
  std::vector<rocksdb::ColumnFamilyHandle*> families;

  ~Database() { release(); }

  void release() {
    if (!rocks) return;
    // A handle must not outlive the database.
    for (rocksdb::ColumnFamilyHandle* family : families)
      rocks->DestroyColumnFamilyHandle(family).PermitUncheckedError();
    families.clear();
  }

  rocksdb::ColumnFamilyHandle* handle(Family family) const {
    const auto number = static_cast<std::size_t>(family);
    KIN_CHECK(number < families.size(), "a family that was not named when the store was opened");
    return families[number];
  }

  Status outcome(const rocksdb::Status& status) const { return kv::outcome(folder, status); }
};

class RocksCursor final : public EngineCursor {
 public:
  RocksCursor(const Database& database, const KeyRange& range, Family family,
              rocksdb::ReadOptions options);

  bool valid() const override { return at_->Valid(); }
  std::string_view key() const override { return view(at_->key()); }
  std::string_view value() const override { return view(at_->value()); }
  void next() override { at_->Next(); }
  void seek(std::string_view key) override {
    at_->Seek(slice(std::max(key, std::string_view(range_.from))));
  }
  Status status() const override { return outcome(folder_, at_->status()); }

 private:
  const fs::path& folder_;
  KeyRange range_;
  rocksdb::Slice bound_;
  std::unique_ptr<rocksdb::Iterator> at_;
};

RocksCursor::RocksCursor(const Database& database, const KeyRange& range, Family family,
                         rocksdb::ReadOptions options)
    : folder_(database.folder), range_(range) {
  // RocksDB keeps a pointer to the bound, so the bound and its bytes are members.
  if (range_.to) {
    bound_ = slice(*range_.to);
    options.iterate_upper_bound = &bound_;
  }
  at_.reset(database.rocks->NewIterator(options, database.handle(family)));
  at_->Seek(slice(range_.from));
}

// Reads the database as it is now, or as of a snapshot.
class RocksReader : public EngineReader {
 public:
  explicit RocksReader(const Database& database) : database_(database) {}

  Result<std::optional<std::string>> get(std::string_view key, Family family) const override;
  Result<std::vector<std::optional<std::string>>> get_many(std::span<const std::string> keys,
                                                           Family family) const override;
  std::unique_ptr<EngineCursor> cursor(const KeyRange& range, Family family) const override {
    return std::make_unique<RocksCursor>(database_, range, family, options_);
  }

 protected:
  const Database& database_;
  rocksdb::ReadOptions options_;
};

Result<std::optional<std::string>> RocksReader::get(std::string_view key, Family family) const {
  std::string value;
  const rocksdb::Status found =
      database_.rocks->Get(options_, database_.handle(family), slice(key), &value);
  return found_value(database_.folder, found, std::move(value));
}

Result<std::vector<std::optional<std::string>>> RocksReader::get_many(
    std::span<const std::string> keys, Family family) const {
  const std::vector<rocksdb::Slice> slices(keys.begin(), keys.end());
  std::vector<rocksdb::PinnableSlice> values(keys.size());
  std::vector<rocksdb::Status> outcomes(keys.size());
  database_.rocks->MultiGet(options_, database_.handle(family), keys.size(), slices.data(),
                            values.data(), outcomes.data(),
                            std::is_sorted(keys.begin(), keys.end()));
  std::vector<std::optional<std::string>> found(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (outcomes[i].IsNotFound()) continue;
    if (!outcomes[i].ok()) return error_of(database_.folder, outcomes[i]);
    found[i] = values[i].ToString();
  }
  return found;
}

class RocksBatch final : public EngineBatch {
 public:
  explicit RocksBatch(const Database& database) : database_(database) {}

  void put(std::string_view key, std::string_view value, Family family) override {
    taken(changes_.Put(database_.handle(family), slice(key), slice(value)));
  }
  void remove(std::string_view key, Family family) override {
    taken(changes_.Delete(database_.handle(family), slice(key)));
  }
  void remove_range(std::string_view from, std::string_view to, Family family) override {
    taken(changes_.DeleteRange(database_.handle(family), slice(from), slice(to)));
  }
  void clear() override { changes_.Clear(); }
  std::size_t size() const override { return changes_.Count(); }
  std::size_t bytes() const override { return changes_.GetDataSize(); }

  // RocksDB takes a pointer to a batch and only reads it.
  rocksdb::WriteBatch* changes() const { return &changes_; }

 private:
  static void taken(const rocksdb::Status& added) {
    KIN_CHECK(added.ok(), "a batch without a limit takes every change");
  }

  const Database& database_;
  mutable rocksdb::WriteBatch changes_;
};

class RocksSnapshot final : public RocksReader {
 public:
  explicit RocksSnapshot(const Database& database) : RocksReader(database) {
    options_.snapshot = database.rocks->GetSnapshot();
  }
  ~RocksSnapshot() override { database_.rocks->ReleaseSnapshot(options_.snapshot); }
};

class RocksStore final : public Engine {
 public:
  Status open(const fs::path& folder, const StoreOptions& options);

  Result<std::optional<std::string>> get(std::string_view key, Family family) const override {
    return RocksReader(database_).get(key, family);
  }
  Result<std::vector<std::optional<std::string>>> get_many(std::span<const std::string> keys,
                                                           Family family) const override {
    return RocksReader(database_).get_many(keys, family);
  }
  std::unique_ptr<EngineCursor> cursor(const KeyRange& range, Family family) const override {
    return RocksReader(database_).cursor(range, family);
  }
  std::unique_ptr<EngineBatch> batch() const override {
    return std::make_unique<RocksBatch>(database_);
  }
  std::unique_ptr<const EngineReader> snapshot() const override {
    return std::make_unique<RocksSnapshot>(database_);
  }
  Status write(const EngineBatch& batch, const WriteOptions& options) override;
  Status ingest(const NextRow& next, Family family) override;
  Status contains_many(std::span<const std::string_view> keys, std::span<std::uint8_t> found,
                       Family family) const override;
  Status flush() override;
  Status compact() override;
  Status checkpoint(const fs::path& folder) override;
  StoreUsage usage() const override;
  Status close() override;

 private:
  Status write_table(const std::string& path, const NextRow& next, Family family,
                     std::uint64_t& rows);
  Status copy_files(const std::vector<rocksdb::LiveFileStorageInfo>& files, const fs::path& folder);
  Status copy_file(const rocksdb::LiveFileStorageInfo& file, const fs::path& to);
  std::uint64_t bytes_in_folder() const;

  Database database_;
  // RocksDB refuses some writes after a failure by itself; but trying again what failed, it can
  // run into assertions of its own.
  FailureLatch failure_;
  std::mutex ingesting_;  // one temporary file at a time
};

Status RocksStore::open(const fs::path& folder, const StoreOptions& options) {
  // Members are destroyed in reverse order, so the environment outlives the database.
  database_.folder = folder;
  database_.disk = &disk_of(options);
  database_.env = env_on(*database_.disk, clock_of(options));
  const rocksdb::DBOptions how = database_options(options, database_.env.get());
  if (options.mode == StoreOptions::Mode::kFresh) {
    KIN_TRY(const bool there, database_.disk->exists(folder));
    const rocksdb::Options all(how, {});
    if (there) KIN_RETURN_IF_ERROR(database_.outcome(rocksdb::DestroyDB(folder.string(), all)));
  }
  database_.cache = rocksdb::NewLRUCache(options.block_cache_bytes);
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  for (const std::string& name : family_names(options, families_in(folder, how)))
    families.emplace_back(name, family_options(options, tuning_of(options, name), database_.cache));
  rocksdb::DB* opened = nullptr;
  const rocksdb::Status status =
      rocksdb::DB::Open(how, folder.string(), families, &database_.families, &opened);
  if (!status.ok()) return error_of(folder, status);
  database_.rocks.reset(opened);
  return Done{};
}

Status RocksStore::write(const EngineBatch& batch, const WriteOptions& options) {
  rocksdb::WriteOptions how;
  how.sync = options.sync;
  how.disableWAL = !options.log;
  return failure_.guard(database_.folder, [&] {
    return database_.outcome(
        database_.rocks->Write(how, static_cast<const RocksBatch&>(batch).changes()));
  });
}

Status RocksStore::write_table(const std::string& path, const NextRow& next, Family family,
                               std::uint64_t& rows) {
  rocksdb::ColumnFamilyHandle* handle = database_.handle(family);
  const rocksdb::Options options = database_.rocks->GetOptions(handle);
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options, handle);
  KIN_RETURN_IF_ERROR(database_.outcome(writer.Open(path)));
  for (;; ++rows) {
    KIN_TRY(const auto row, next());
    if (!row) break;
    KIN_RETURN_IF_ERROR(database_.outcome(writer.Put(slice(row->key), slice(row->value))));
  }
  // RocksDB refuses to finish a table without rows.
  return rows == 0 ? Status(Done{}) : database_.outcome(writer.Finish());
}

Status RocksStore::ingest(const NextRow& next, Family family) {
  const std::lock_guard lock(ingesting_);
  KIN_RETURN_IF_ERROR(failure_.check(database_.folder));
  const fs::path path = database_.folder / "ingested.tmp";
  std::uint64_t rows = 0;
  Status done = write_table(path.string(), next, family, rows);
  if (done.ok() && rows > 0) {
    rocksdb::IngestExternalFileOptions how;
    how.move_files = true;           // links the file instead of copying it
    how.write_global_seqno = false;  // it would be written into the middle of the file
    const KeepTables keep;
    done = failure_.note(database_.outcome(
        database_.rocks->IngestExternalFile(database_.handle(family), {path.string()}, how)));
  }
  // RocksDB does not know the name, and the next call overwrites a file that stays behind.
  (void)database_.disk->remove(path);
  return done;
}

Status RocksStore::contains_many(std::span<const std::string_view> keys,
                                 std::span<std::uint8_t> found, Family family) const {
  // Pinned values are not copied; RocksDB has no look-up of many keys without their values.
  std::vector<rocksdb::Slice> slices(keys.size());
  std::transform(keys.begin(), keys.end(), slices.begin(), slice);
  std::vector<rocksdb::PinnableSlice> values(keys.size());
  std::vector<rocksdb::Status> outcomes(keys.size());
  database_.rocks->MultiGet(rocksdb::ReadOptions(), database_.handle(family), keys.size(),
                            slices.data(), values.data(), outcomes.data());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!outcomes[i].ok() && !outcomes[i].IsNotFound())
      return error_of(database_.folder, outcomes[i]);
    found[i] = outcomes[i].ok() ? 1 : 0;
  }
  return Done{};
}

Status RocksStore::flush() {
  return failure_.guard(database_.folder, [&] {
    return database_.outcome(database_.rocks->Flush(rocksdb::FlushOptions(), database_.families));
  });
}

Status RocksStore::compact() {
  rocksdb::CompactRangeOptions options;
  // Files of the last level are rewritten too, unless this very compaction made them.
  options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
  for (rocksdb::ColumnFamilyHandle* family : database_.families) {
    KIN_RETURN_IF_ERROR(failure_.guard(database_.folder, [&] {
      return database_.outcome(database_.rocks->CompactRange(options, family, nullptr, nullptr));
    }));
  }
  return Done{};
}

Status RocksStore::copy_file(const rocksdb::LiveFileStorageInfo& file, const fs::path& to) {
  constexpr std::uint64_t kPiece = std::uint64_t{1} << 20;
  const fs::path from = fs::path(file.directory) / file.relative_filename;
  // Tables never change and can be linked. A file to be trimmed is still being appended to: only
  // its first bytes belong to the checkpoint.
  if (database_.disk == &system_disk() && !file.trim_to_size) {
    std::error_code failed;
    fs::create_hard_link(from, to, failed);
    if (!failed) return Done{};
  }
  KIN_TRY(const auto source, database_.disk->open_to_read(from));
  KIN_TRY(const auto target, database_.disk->create(to));
  std::string piece;
  for (std::uint64_t at = 0; at < file.size; at += piece.size()) {
    piece.resize(std::min(kPiece, file.size - at));
    KIN_RETURN_IF_ERROR(source->read_at(at, piece.data(), piece.size()));
    KIN_RETURN_IF_ERROR(target->append(piece));
  }
  return target->sync();
}

// CURRENT, which makes the folder a store, comes last.
Status RocksStore::copy_files(const std::vector<rocksdb::LiveFileStorageInfo>& files,
                              const fs::path& folder) {
  std::string current;
  for (const rocksdb::LiveFileStorageInfo& file : files) {
    if (file.relative_filename == kRocksFile)
      current = file.replacement_contents;
    else
      KIN_RETURN_IF_ERROR(copy_file(file, folder / file.relative_filename));
  }
  // The names of all other files are durable before CURRENT refers to them.
  KIN_RETURN_IF_ERROR(database_.disk->sync_folder(folder));
  return replace_whole(*database_.disk, folder / kRocksFile, current);
}

Status RocksStore::checkpoint(const fs::path& folder) {
  // Listing the files flushes first, which is a change.
  KIN_RETURN_IF_ERROR(failure_.check(database_.folder));
  KIN_RETURN_IF_ERROR(prepare_copy(*database_.disk, folder));
  // Merges go on during the copy and must not delete the files that are listed.
  KIN_RETURN_IF_ERROR(database_.outcome(database_.rocks->DisableFileDeletions()));
  std::vector<rocksdb::LiveFileStorageInfo> files;
  Status copied =
      failure_.note(database_.outcome(database_.rocks->GetLiveFilesStorageInfo({}, &files)));
  if (copied.ok()) copied = copy_files(files, folder);
  // Not forced: deletions stay disabled while another checkpoint runs.
  const Status enabled = database_.outcome(database_.rocks->EnableFileDeletions(false));
  return copied.ok() ? enabled : copied;
}

// Files that come and go meanwhile count or do not; without a folder nothing does.
std::uint64_t RocksStore::bytes_in_folder() const {
  std::vector<rocksdb::Env::FileAttributes> files;
  database_.rocks->GetEnv()
      ->GetChildrenFileAttributes(database_.folder.string(), &files)
      .PermitUncheckedError();
  std::uint64_t all = 0;
  for (const auto& file : files) all += file.size_bytes;
  return all;
}

StoreUsage RocksStore::usage() const {
  using Properties = rocksdb::DB::Properties;
  const auto sum = [this](const std::string& property) {
    std::uint64_t all = 0;
    for (rocksdb::ColumnFamilyHandle* family : database_.families) {
      std::uint64_t value = 0;
      if (database_.rocks->GetIntProperty(family, property, &value)) all += value;
    }
    return all;
  };
  return {.keys = sum(Properties::kEstimateNumKeys),
          .write_buffer_bytes = sum(Properties::kCurSizeAllMemTables),
          .table_index_bytes = sum(Properties::kEstimateTableReadersMem),
          .block_cache_bytes = database_.cache->GetUsage(),
          .disk_bytes = bytes_in_folder()};
}

Status RocksStore::close() {
  database_.release();
  const rocksdb::Status closed = database_.rocks->Close();
  database_.rocks.reset();
  return database_.outcome(closed);
}

}  // namespace

Result<std::unique_ptr<Engine>> open_rocks(const fs::path& folder, const StoreOptions& options) {
  auto store = std::make_unique<RocksStore>();
  KIN_RETURN_IF_ERROR(store->open(folder, options));
  return std::unique_ptr<Engine>(std::move(store));
}

Result<std::optional<std::string>> read_rocks_value(const fs::path& folder, std::string_view key,
                                                    const StoreOptions& options) {
  const std::unique_ptr<rocksdb::Env> env = env_on(disk_of(options), clock_of(options));
  rocksdb::Options how;
  how.env = env.get();
  how.info_log = std::make_shared<Silence>();  // reading leaves no log in the folder
  rocksdb::DB* opened = nullptr;
  // Takes no lock, so it works while the store is open elsewhere.
  const rocksdb::Status found = rocksdb::DB::OpenForReadOnly(how, folder.string(), &opened);
  if (!found.ok()) return error_of(folder, found);
  const std::unique_ptr<rocksdb::DB> database(opened);
  std::string value;
  const rocksdb::Status got = database->Get(rocksdb::ReadOptions(), slice(key), &value);
  return found_value(folder, got, std::move(value));
}

}  // namespace kin::kv
