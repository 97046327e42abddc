#include "kv/log/store.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "kv/engine/shared.h"
#include "kv/log/format.h"
#include "kv/log/rows.h"

namespace kin::kv {
namespace {

namespace fs = std::filesystem;

// Batches may take this much of the log, or as much as the rows, before it is written again.
constexpr std::uint64_t kLeastLogBytes = std::uint64_t{1} << 20;
// Bytes of rows in one frame of a rewritten log.
constexpr std::size_t kFrameBytes = std::size_t{1} << 20;

// The rows of each family at one moment.
using Families = std::vector<Rows>;
using State = std::shared_ptr<const Families>;

void apply(const LogChange& change, Families& families) {
  Rows& rows = families[change.family];
  switch (change.kind) {
    case LogChange::Kind::kPut: return rows.put(change.key, change.value);
    case LogChange::Kind::kRemove: return rows.remove(change.key);
    case LogChange::Kind::kRemoveRange: return rows.remove_range(change.key, change.value);
  }
}

const Rows& rows_of(const Families& families, Family family) {
  const auto number = static_cast<std::size_t>(family);
  KIN_CHECK(number < families.size(), "a family that was not named when the store was opened");
  return families[number];
}

class LogCursor final : public EngineCursor {
 public:
  LogCursor(Rows rows, const KeyRange& range)
      : rows_(std::move(rows)), range_(range), at_(rows_.at_or_after(range.from)) {}

  bool valid() const override { return at_ != nullptr && (!range_.to || at_->key < *range_.to); }
  std::string_view key() const override { return at_->key; }
  std::string_view value() const override { return at_->value; }
  void next() override { at_ = rows_.after(at_->key); }
  void seek(std::string_view key) override {
    at_ = rows_.at_or_after(std::max(key, std::string_view(range_.from)));
  }
  Status status() const override { return Done{}; }

 private:
  Rows rows_;
  KeyRange range_;
  const Rows::Row* at_;
};

class LogSnapshot final : public EngineReader {
 public:
  explicit LogSnapshot(State state) : state_(std::move(state)) {}

  Result<std::optional<std::string>> get(std::string_view key, Family family) const override {
    const Rows::Row* row = rows_of(*state_, family).find(key);
    return row != nullptr ? std::optional(row->value) : std::nullopt;
  }
  Result<std::vector<std::optional<std::string>>> get_many(std::span<const std::string> keys,
                                                           Family family) const override {
    std::vector<std::optional<std::string>> found;
    for (const std::string& key : keys) found.push_back(*get(key, family));
    return found;
  }
  std::unique_ptr<EngineCursor> cursor(const KeyRange& range, Family family) const override {
    return std::make_unique<LogCursor>(rows_of(*state_, family), range);
  }

 private:
  State state_;
};

// Changes as the log has them.
class LogBatch final : public EngineBatch {
 public:
  explicit LogBatch(std::size_t families) : families_(families) {}

  void put(std::string_view key, std::string_view value, Family family) override {
    add(LogChange::Kind::kPut, family, key, value);
  }
  void remove(std::string_view key, Family family) override {
    add(LogChange::Kind::kRemove, family, key, {});
  }
  void remove_range(std::string_view from, std::string_view to, Family family) override {
    add(LogChange::Kind::kRemoveRange, family, from, to);
  }
  void clear() override {
    payload_.clear();
    size_ = 0;
  }
  std::size_t size() const override { return size_; }
  std::size_t bytes() const override { return payload_.size(); }
  const std::string& payload() const { return payload_; }

 private:
  void add(LogChange::Kind kind, Family family, std::string_view key, std::string_view value) {
    KIN_CHECK(static_cast<std::size_t>(family) < families_,
              "a family that was not named when the store was opened");
    append_change(payload_, {kind, static_cast<std::uint32_t>(family), key, value});
    ++size_;
  }

  std::size_t families_;
  std::string payload_;
  std::size_t size_ = 0;
};

// The contents of a log file.
struct Loaded {
  std::vector<std::string> names;
  Families families;
};

Result<Loaded> load(Disk& disk, const fs::path& path) {
  KIN_TRY(const std::string bytes, read_whole(disk, path));
  Loaded loaded;
  const auto begin = [&](std::vector<std::string> names) {
    loaded.names = std::move(names);
    loaded.families.resize(loaded.names.size());
  };
  const Status decoded =
      decode_log(bytes, begin, [&](const LogChange& change) { apply(change, loaded.families); });
  if (!decoded.ok()) return with_context(path.string(), decoded.error());
  return loaded;
}

Status append_rows(LogWriter& log, const Families& families) {
  std::string payload;
  for (std::uint32_t family = 0; family < families.size(); ++family) {
    const Rows& rows = families[family];
    for (const Rows::Row* row = rows.at_or_after(""); row != nullptr; row = rows.after(row->key)) {
      append_change(payload, {LogChange::Kind::kPut, family, row->key, row->value});
      if (payload.size() < kFrameBytes) continue;
      KIN_RETURN_IF_ERROR(log.append(payload));
      payload.clear();
    }
  }
  return payload.empty() ? Status(Done{}) : log.append(payload);
}

// Writes a log of `families` in the place of the one in `folder`. After an error or a crash one of
// the two is there, whole.
Result<LogWriter> replace_log(Disk& disk, const fs::path& folder,
                              const std::vector<std::string>& names, const Families& families) {
  const fs::path temporary = folder / (std::string(kLogFile) + ".tmp");
  KIN_TRY(auto file, disk.create(temporary));
  KIN_TRY(LogWriter log, LogWriter::create(std::move(file), names));
  KIN_RETURN_IF_ERROR(append_rows(log, families));
  // The name comes last: under its final name a log is always complete, sealed and durable.
  KIN_RETURN_IF_ERROR(log.seal());
  KIN_RETURN_IF_ERROR(log.sync());
  KIN_RETURN_IF_ERROR(disk.rename(temporary, folder / kLogFile));
  KIN_RETURN_IF_ERROR(disk.sync_folder(folder));
  return log;
}

class LogStore final : public Engine {
 public:
  LogStore(const fs::path& folder, const StoreOptions& options)
      : folder_(folder), disk_(disk_of(options)), log_bytes_(options.log_bytes) {}
  Status open(const StoreOptions& options);

  Result<std::optional<std::string>> get(std::string_view key, Family family) const override {
    return LogSnapshot(now()).get(key, family);
  }
  Result<std::vector<std::optional<std::string>>> get_many(std::span<const std::string> keys,
                                                           Family family) const override {
    return LogSnapshot(now()).get_many(keys, family);
  }
  std::unique_ptr<EngineCursor> cursor(const KeyRange& range, Family family) const override {
    return LogSnapshot(now()).cursor(range, family);
  }
  std::unique_ptr<EngineBatch> batch() const override {
    return std::make_unique<LogBatch>(names_.size());
  }
  std::unique_ptr<const EngineReader> snapshot() const override {
    return std::make_unique<LogSnapshot>(now());
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
  Status lock();
  Status restore(const StoreOptions& options);
  State now() const;
  void publish(Families families);
  // Runs `act` with writing_ held, unless an earlier write failed; remembers its failure.
  template <typename Act>
  Status change(const Act& act) {
    const std::lock_guard lock(writing_);
    return failure_.guard(folder_, act);
  }
  Status replace();
  bool is_long() const;

  fs::path folder_;
  Disk& disk_;
  std::uint64_t log_bytes_;
  std::unique_ptr<DiskFile> lock_;
  std::vector<std::string> names_;

  mutable std::mutex writing_;  // guards what follows
  std::optional<LogWriter> log_;
  std::uint64_t base_bytes_ = 0;
  FailureLatch failure_;

  mutable std::mutex publishing_;  // guards state_
  State state_;
};

State LogStore::now() const {
  const std::lock_guard lock(publishing_);
  return state_;
}

void LogStore::publish(Families families) {
  auto state = std::make_shared<const Families>(std::move(families));
  const std::lock_guard lock(publishing_);
  state_ = std::move(state);
}

Status LogStore::lock() {
  KIN_TRY(lock_, disk_.open_to_write(folder_ / "LOCK"));
  const Status locked = lock_->lock();
  if (locked.ok() || locked.error().code != Code::kFailedPrecondition) return locked;
  return open_elsewhere(folder_);
}

Status LogStore::open(const StoreOptions& options) {
  KIN_RETURN_IF_ERROR(disk_.make_folder(folder_));
  KIN_RETURN_IF_ERROR(lock());
  KIN_TRY(const bool there, disk_.exists(folder_ / kLogFile));
  if (there && options.mode != StoreOptions::Mode::kFresh) return restore(options);
  names_ = family_names(options, {});
  publish(Families(names_.size()));
  return replace();
}

// The bytes that were read may not be on the device: after a failed sync no later sync writes them,
// and a name may be unsynced. So every open rewrites the log.
Status LogStore::restore(const StoreOptions& options) {
  KIN_TRY(Loaded loaded, load(disk_, folder_ / kLogFile));
  const std::vector<std::string>& present = loaded.names;
  names_ = family_names(options, present);
  // The families asked for come first, so the rows move to other places than they have in the file.
  Families families(names_.size());
  for (std::size_t i = 0; i < present.size(); ++i) {
    const auto place = std::find(names_.begin(), names_.end(), present[i]) - names_.begin();
    families[static_cast<std::size_t>(place)] = std::move(loaded.families[i]);
  }
  publish(std::move(families));
  return replace();
}

Status LogStore::replace() {
  // The old log is closed when the new one has its name; until then it stays valid.
  KIN_TRY(log_, replace_log(disk_, folder_, names_, *now()));
  base_bytes_ = log_->bytes();
  return Done{};
}

bool LogStore::is_long() const {
  const std::uint64_t limit = log_bytes_ > 0 ? log_bytes_ : kLeastLogBytes;
  return log_->bytes() - base_bytes_ > std::max(limit, base_bytes_);
}

Status LogStore::write(const EngineBatch& batch, const WriteOptions& options) {
  const std::string& payload = static_cast<const LogBatch&>(batch).payload();
  if (payload.size() > kMostPayload) {
    return Error{Code::kInvalidArgument,
                 fmt::format("a batch of {} bytes is too large for {} (split it)", payload.size(),
                             folder_.string())};
  }
  return change([&]() -> Status {
    // Before the batch: if this fails, the batch that the caller hears of is not in the log either.
    if (is_long()) KIN_RETURN_IF_ERROR(replace());
    KIN_RETURN_IF_ERROR(log_->append(payload));
    if (options.sync) KIN_RETURN_IF_ERROR(log_->sync());
    // Rows become visible after they are logged, so readers see nothing that the log lacks.
    Families families = *now();
    KIN_RETURN_IF_ERROR(visit_changes(payload, families.size(),
                                      [&](const LogChange& made) { apply(made, families); }));
    publish(std::move(families));
    return Done{};
  });
}

Status LogStore::ingest(const NextRow& next, Family family) {
  // All rows are in memory anyway, so one batch does it: all or none, and synced.
  LogBatch batch(names_.size());
  std::optional<std::string> last;
  for (;;) {
    KIN_TRY(const auto row, next());
    if (!row) break;
    if (last && row->key <= *last) {
      return Error{Code::kInvalidArgument,
                   fmt::format("{}: the keys of ingested rows do not ascend", folder_.string())};
    }
    last = row->key;
    batch.put(row->key, row->value, family);
  }
  return write(batch, {.sync = true});
}

Status LogStore::contains_many(std::span<const std::string_view> keys,
                               std::span<std::uint8_t> found, Family family) const {
  const State state = now();
  const Rows& rows = rows_of(*state, family);
  for (std::size_t i = 0; i < keys.size(); ++i) found[i] = rows.find(keys[i]) != nullptr ? 1 : 0;
  return Done{};
}

Status LogStore::flush() {
  return change([&] { return log_->sync(); });
}

Status LogStore::compact() {
  return change([&] { return replace(); });
}

Status LogStore::checkpoint(const fs::path& folder) {
  KIN_RETURN_IF_ERROR(prepare_copy(disk_, folder));
  // Takes no lock: the rows of a state never change, and writers publish new states meanwhile.
  const auto copied = replace_log(disk_, folder, names_, *now());
  return copied.ok() ? Status(Done{}) : Status(copied.error());
}

StoreUsage LogStore::usage() const {
  StoreUsage usage;
  const State state = now();
  for (const Rows& rows : *state) {
    usage.keys += rows.size();
    usage.write_buffer_bytes += rows.bytes();
  }
  const std::lock_guard lock(writing_);
  usage.disk_bytes = log_->bytes();
  return usage;
}

Status LogStore::close() {
  const std::lock_guard lock(writing_);
  Status closed = Done{};
  // After a failure it is not known where the log ends, so nothing may be appended.
  if (failure_.check(folder_).ok()) {
    // The seal shows damage to the last batches; without it they would count as torn.
    closed = log_->sync();
    if (closed.ok()) closed = log_->seal();
  }
  log_.reset();
  lock_.reset();
  return closed;
}

}  // namespace

Result<std::unique_ptr<Engine>> open_log(const fs::path& folder, const StoreOptions& options) {
  auto store = std::make_unique<LogStore>(folder, options);
  KIN_RETURN_IF_ERROR(store->open(options));
  return std::unique_ptr<Engine>(std::move(store));
}

Result<std::optional<std::string>> read_log_value(const fs::path& folder, std::string_view key,
                                                  const StoreOptions& options) {
  KIN_TRY(Loaded loaded, load(disk_of(options), folder / kLogFile));
  return LogSnapshot(std::make_shared<const Families>(std::move(loaded.families))).get(key, kMain);
}

}  // namespace kin::kv
