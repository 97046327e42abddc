#include "store/seen_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/check.h"
#include "store/seen_lookup.h"
#include "store/seen_merge.h"
#include "store/seen_recovery.h"

namespace kin::store {
namespace fs = std::filesystem;
namespace {

using Mode = SeenOptions::Mode;

constexpr std::uint64_t kMostTableSlots = std::uint64_t{1} << 20;
constexpr std::uint64_t kLeastTableSlots = std::uint64_t{1} << 12;
// What a merge holds beside the filter it makes: decoded pages of its runs and a write buffer.
constexpr std::uint64_t kMergeBytes = std::uint64_t{4} << 20;
constexpr std::size_t kInsertChunk = 512;

// How a memory limit is shared out.
struct Shares {
  std::uint64_t table_ids = 0;
  std::uint64_t piece_ids = 0;
  std::uint64_t working_bytes = 0;  // all but resident filters and page index
};

// Two tables, one of them being written out, and its ids sorted.
std::uint64_t table_share(std::uint64_t ids, IdKind kind) {
  return 2 * SeenTable::slots_for(ids) * SeenTable::slot_bytes(kind) + ids * sizeof(SeenId);
}

Shares share_out(const SeenOptions& options, IdKind kind) {
  std::uint64_t slots = kMostTableSlots;
  const auto ids_in = [](std::uint64_t in) { return in / 10 * 7 - 10; };
  while (slots > kLeastTableSlots && table_share(ids_in(slots), kind) > options.max_memory / 3) {
    slots /= 2;
  }
  Shares shares;
  shares.table_ids = options.table_ids != 0 ? options.table_ids : ids_in(slots);
  shares.piece_ids =
      std::min(options.piece_ids, std::max(shares.table_ids, options.max_memory / 16));
  shares.working_bytes =
      table_share(shares.table_ids, kind) + kMergeBytes + shares.piece_ids * 9 / 8;
  return shares;
}

Status check(const fs::path& folder, const SeenOptions& options) {
  if (options.max_memory >= kSeenLeastMemory && options.piece_ids > 0) return Done{};
  return Error{Code::kInvalidArgument, fmt::format("{}: a seen set needs at least {} MiB of memory",
                                                   folder.string(), kSeenLeastMemory >> 20)};
}

}  // namespace

class SeenSet::Impl {
 public:
  static Result<std::unique_ptr<Impl>> open(const fs::path& folder, const SeenOptions& options);
  ~Impl() { (void)close(); }

  IdKind kind() const { return placement_.kind; }
  std::uint64_t seed() const { return seed_; }

  Result<bool> contains(SeenId id);
  Status contains(std::span<const SeenId> ids, std::span<std::uint8_t> found);
  Status insert(std::span<const SeenId> ids, std::span<std::uint8_t> was_new);
  Result<std::uint64_t> commit();
  Status flush();
  Status settle();
  Status close();
  std::uint64_t len() const { return ids_.load(std::memory_order_relaxed); }
  SeenStats stats() const;
  Status for_each(const std::function<Status(SeenId)>& visit);
  Status verify();

  // The version to look things up in, and whether it is newer than the one the caller has.
  std::uint64_t epoch() const { return epoch_.load(std::memory_order_acquire); }
  std::shared_ptr<const SeenVersion> version(std::uint64_t& epoch) const;
  void add_counts(const SeenLookupCounts& counts) const;

 private:
  Impl(SeenPlacement placement, const SeenOptions& options)
      : placement_(std::move(placement)), options_(options) {}

  Status open_files();
  Status open_files_to_read();
  Status take_up(SeenManifest manifest);
  const SeenVersion& current();
  void share_counts();
  Status insert_chunk(std::span<const SeenId> ids, std::span<std::uint8_t> was_new);
  void make_room(std::uint64_t ids);
  Status rotate();
  Status check_writable() const;
  Error poison(Error error);
  template <typename T>
  Result<T> or_poison(Result<T> result);

  // The part that runs in the background.
  void start();
  void stop();
  void work_until_stopped();
  Result<bool> work_once();
  Status write_out_frozen(const SeenTable& frozen, std::uint64_t log);
  Status wait_for_frozen();
  // What look-ups see from now on: the writer's tables, or the runs (and the frozen table gone).
  void publish_tables(std::shared_ptr<const SeenTable> frozen);
  void publish_runs(bool frozen_is_a_run);
  void make_version();
  LogPosition position() const;

  SeenPlacement placement_;
  SeenOptions options_;
  Shares shares_;
  std::uint64_t seed_ = 0;
  std::unique_ptr<DiskFile> lock_;

  // The writer's.
  std::shared_ptr<SeenTable> table_;
  std::optional<SeenLogWriter> log_;  // nothing when opened to read
  SeenLookup lookup_;
  std::shared_ptr<const SeenVersion> seen_version_;
  std::uint64_t seen_epoch_ = 0;
  std::vector<std::uint8_t> found_;
  bool closed_ = false;

  std::atomic<std::uint64_t> ids_ = 0;
  std::atomic<std::uint64_t> commits_ = 0;
  std::atomic<bool> poisoned_ = false;
  std::atomic<std::uint64_t> epoch_ = 0;

  // Held through a step of the background's work, so that verify() can look between two.
  std::mutex runs_mutex_;
  std::unique_ptr<SeenRuns> runs_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Under mutex_:
  std::shared_ptr<const SeenVersion> version_;
  std::shared_ptr<const SeenTable> active_;
  std::shared_ptr<const SeenTable> frozen_;
  std::vector<RunView> run_views_;
  std::uint64_t frozen_log_ = 0;  // the log that holds what is in frozen_
  LogPosition position_;
  std::optional<Error> failure_;
  bool stopping_ = false;
  bool merge_due_ = false;
  SeenStats run_stats_;  // of runs_, as of the last step
  mutable SeenLookupCounts counts_;

  std::thread worker_;
};

Result<std::unique_ptr<SeenSet::Impl>> SeenSet::Impl::open(const fs::path& folder,
                                                           const SeenOptions& options) {
  KIN_RETURN_IF_ERROR(check(folder, options));
  std::unique_ptr<Impl> set(new Impl({options.disk, folder, IdKind::kNumber}, options));
  if (options.mode == Mode::kRead) {
    KIN_RETURN_IF_ERROR(set->open_files_to_read());
  } else {
    KIN_RETURN_IF_ERROR(set->open_files());
    set->start();
  }
  return set;
}

Status SeenSet::Impl::open_files() {
  Disk& disk = *placement_.disk;
  if (options_.mode == Mode::kOpen) {
    KIN_TRY(const bool there, disk.exists(placement_.folder));
    if (!there) KIN_RETURN_IF_ERROR(find_or_make_manifest(placement_.folder, options_));
  }
  KIN_RETURN_IF_ERROR(disk.make_folder(placement_.folder));
  KIN_TRY(lock_, disk.open_to_append(placement_.folder / "lock"));
  if (!lock_->lock()) {
    return Error{Code::kFailedPrecondition,
                 fmt::format("{} is open for writing in another process, and one may write at a "
                             "time (wait for it; looking things up needs no waiting)",
                             placement_.folder.string())};
  }
  KIN_TRY(SeenManifest manifest, find_or_make_manifest(placement_.folder, options_));
  placement_.kind = manifest.kind;
  KIN_RETURN_IF_ERROR(remove_leftovers(placement_, manifest));
  return take_up(std::move(manifest));
}

// A writer may merge files away between our reading the manifest and opening them; the manifest is
// then a newer one, and the next attempt finds what it names.
Status SeenSet::Impl::open_files_to_read() {
  constexpr int kAttempts = 20;
  constexpr std::chrono::milliseconds kPause(10);
  for (int attempt = 1;; ++attempt) {
    KIN_TRY(SeenManifest manifest, find_or_make_manifest(placement_.folder, options_));
    placement_.kind = manifest.kind;
    const SeenManifest before = manifest;
    const Status status = take_up(std::move(manifest));
    if (status.ok() || attempt == kAttempts) return status;
    const auto now = find_or_make_manifest(placement_.folder, options_);
    if (now && *now == before && attempt > 2) return status;
    std::this_thread::sleep_for(kPause);
  }
}

Status SeenSet::Impl::take_up(SeenManifest manifest) {
  const bool read_only = options_.mode == Mode::kRead;
  seed_ = manifest.seed;
  shares_ = share_out(options_, placement_.kind);
  const std::uint64_t working = std::min(shares_.working_bytes, options_.max_memory);
  KIN_TRY(runs_, SeenRuns::open(placement_,
                                {.piece_ids = shares_.piece_ids,
                                 .small_run_ids = 4 * shares_.table_ids,
                                 .filter_memory = options_.max_memory - working,
                                 .read_only = read_only},
                                std::move(manifest)));
  KIN_TRY(RecoveredLogs recovered, recover_logs(placement_, *runs_, read_only));
  table_ = std::move(recovered.table);
  log_ = std::move(recovered.log);
  ids_ = ids_in_runs(runs_->manifest()) + table_->size();
  position_.first = runs_->manifest().first_log;
  if (log_) position_ = {position_.first, log_->number(), log_->durable_bytes()};
  active_ = table_;
  publish_runs(false);
  return Done{};
}

// ---- Look-ups ----

std::shared_ptr<const SeenVersion> SeenSet::Impl::version(std::uint64_t& epoch) const {
  const std::lock_guard lock(mutex_);
  epoch = epoch_.load(std::memory_order_relaxed);
  return version_;
}

const SeenVersion& SeenSet::Impl::current() {
  if (epoch() != seen_epoch_) seen_version_ = version(seen_epoch_);
  return *seen_version_;
}

void SeenSet::Impl::add_counts(const SeenLookupCounts& counts) const {
  const std::lock_guard lock(mutex_);
  counts_ += counts;
}

// Often enough for whoever watches, seldom enough to cost nothing.
void SeenSet::Impl::share_counts() {
  constexpr std::uint64_t kProbes = 8192;
  if (lookup_.counts().filter_probes >= kProbes) add_counts(lookup_.take_counts());
}

Result<bool> SeenSet::Impl::contains(SeenId id) {
  share_counts();
  return lookup_.contains(current(), id);
}

Status SeenSet::Impl::contains(std::span<const SeenId> ids, std::span<std::uint8_t> found) {
  KIN_CHECK(found.size() >= ids.size(), "an answer for every id");
  share_counts();
  return lookup_.contains(current(), ids, found);
}

// ---- Writing ----

Status SeenSet::Impl::check_writable() const {
  if (log_ && !poisoned_.load(std::memory_order_acquire)) return Done{};
  if (!log_) {
    return Error{Code::kFailedPrecondition,
                 fmt::format("{} was opened to read", placement_.folder.string())};
  }
  const std::lock_guard lock(mutex_);
  return Error{failure_->code,
               fmt::format("{} refuses writes since an earlier failure: {} (what was committed is "
                           "safe; open the set again once the cause is mended)",
                           placement_.folder.string(), failure_->message)};
}

Error SeenSet::Impl::poison(Error error) {
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = error;
  poisoned_.store(true, std::memory_order_release);
  changed_.notify_all();
  return error;
}

template <typename T>
Result<T> SeenSet::Impl::or_poison(Result<T> result) {
  if (!result) return poison(result.error());
  return result;
}

Status SeenSet::Impl::insert(std::span<const SeenId> ids, std::span<std::uint8_t> was_new) {
  KIN_CHECK(was_new.size() >= ids.size(), "an answer for every id");
  while (!ids.empty()) {
    KIN_RETURN_IF_ERROR(check_writable());
    if (table_->size() >= shares_.table_ids) KIN_RETURN_IF_ERROR(rotate());
    const std::uint64_t room = shares_.table_ids - table_->size();
    const std::size_t count = std::min<std::uint64_t>({ids.size(), kInsertChunk, room});
    KIN_RETURN_IF_ERROR(insert_chunk(ids.first(count), was_new.first(count)));
    ids = ids.subspan(count);
    was_new = was_new.subspan(count);
  }
  return Done{};
}

Status SeenSet::Impl::insert_chunk(std::span<const SeenId> ids, std::span<std::uint8_t> was_new) {
  make_room(ids.size());
  share_counts();
  found_.resize(ids.size());
  KIN_RETURN_IF_ERROR(lookup_.contains(current(), ids, found_));
  std::uint64_t added = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    was_new[i] = found_[i] == 0 && table_->insert(ids[i]) ? 1 : 0;
    if (was_new[i] == 0) continue;
    ++added;
    KIN_RETURN_IF_ERROR(or_poison(log_->add(ids[i])));
  }
  ids_.store(len() + added, std::memory_order_relaxed);
  return Done{};
}

void SeenSet::Impl::make_room(std::uint64_t ids) {
  const std::uint64_t wanted =
      std::max(table_->size() + ids, std::min(options_.expected_ids, shares_.table_ids));
  if (wanted <= table_->capacity()) return;
  auto larger = std::make_shared<SeenTable>(
      kind(), std::max(SeenTable::slots_for(wanted), table_->slots() * 2));
  for (const SeenId& id : table_->ids()) larger->insert(id);
  table_ = std::move(larger);
  publish_tables(nullptr);
}

Result<std::uint64_t> SeenSet::Impl::commit() {
  KIN_RETURN_IF_ERROR(check_writable());
  KIN_RETURN_IF_ERROR(or_poison(log_->sync()));
  commits_.fetch_add(1, std::memory_order_relaxed);
  add_counts(lookup_.take_counts());
  const std::lock_guard lock(mutex_);
  position_.durable = log_->number();
  position_.bytes = log_->durable_bytes();
  return len();
}

// The table goes to the background to become a run, and its log with it; a new pair takes their
// place. The new log is there before the old one says that it goes on in it.
Status SeenSet::Impl::rotate() {
  KIN_RETURN_IF_ERROR(wait_for_frozen());
  KIN_RETURN_IF_ERROR(or_poison(log_->sync()));
  auto next = or_poison(SeenLogWriter::create(placement_, log_->number() + 1, len()));
  if (!next) return next.error();
  KIN_RETURN_IF_ERROR(or_poison(log_->seal()));
  const std::uint64_t old = log_->number();
  log_ = std::move(*next);
  {
    const std::lock_guard lock(mutex_);
    frozen_log_ = old;
    position_.durable = log_->number();
    position_.bytes = log_->durable_bytes();
  }
  auto full = std::exchange(table_, std::make_shared<SeenTable>(kind(), SeenTable::slots_for(0)));
  publish_tables(std::move(full));
  changed_.notify_all();
  return options_.background ? Status(Done{}) : settle();
}

Status SeenSet::Impl::flush() {
  KIN_TRY(const std::uint64_t sequence, commit());
  (void)sequence;
  if (table_->size() > 0) KIN_RETURN_IF_ERROR(rotate());
  return wait_for_frozen();
}

Status SeenSet::Impl::wait_for_frozen() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return frozen_ == nullptr || failure_; });
  lock.unlock();
  return check_writable();
}

Status SeenSet::Impl::settle() {
  KIN_RETURN_IF_ERROR(check_writable());
  if (!options_.background) {
    for (;;) {
      KIN_TRY(const bool worked, work_once());
      if (!worked) return Done{};
    }
  }
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return (frozen_ == nullptr && !merge_due_) || failure_; });
  lock.unlock();
  return check_writable();
}

Status SeenSet::Impl::close() {
  if (std::exchange(closed_, true)) return Done{};
  const auto committed = log_ ? commit() : Result<std::uint64_t>(len());
  stop();
  seen_version_.reset();
  if (!log_) return Done{};
  Status status = Done{};
  if (!committed) {
    status = committed.error();
  } else if (const Status writable = check_writable(); !writable) {
    status = writable;
  } else {
    status = runs_->note_log(position());
  }
  lock_.reset();
  return status;
}

// ---- In the background ----

void SeenSet::Impl::start() {
  if (options_.background) worker_ = std::thread([this] { work_until_stopped(); });
}

void SeenSet::Impl::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (worker_.joinable()) worker_.join();
}

void SeenSet::Impl::work_until_stopped() {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock,
                    [&] { return stopping_ || failure_ || frozen_ != nullptr || merge_due_; });
      // A table that waits becomes a run even now; a merge can go on another day.
      if (failure_ || (stopping_ && frozen_ == nullptr)) return;
    }
    if (!work_once()) return;
  }
}

Result<bool> SeenSet::Impl::work_once() {
  std::shared_ptr<const SeenTable> frozen;
  std::uint64_t log = 0;
  {
    const std::lock_guard lock(mutex_);
    frozen = frozen_;
    log = frozen_log_;
  }
  {
    const std::lock_guard lock(runs_mutex_);
    if (frozen != nullptr) {
      KIN_RETURN_IF_ERROR(or_poison(write_out_frozen(*frozen, log)));
    } else if (runs_->merge_due()) {
      KIN_RETURN_IF_ERROR(or_poison(runs_->merge_step(position())));
      publish_runs(false);
    } else {
      return false;
    }
  }
  changed_.notify_all();
  return true;
}

Status SeenSet::Impl::write_out_frozen(const SeenTable& frozen, std::uint64_t log) {
  std::vector<SeenId> ids = frozen.ids();
  std::sort(ids.begin(), ids.end());
  LogPosition now = position();
  now.first = log + 1;
  KIN_RETURN_IF_ERROR(runs_->add_run(ids, now));
  publish_runs(true);
  (void)placement_.disk->remove(log_path(placement_.folder, log));  // else when it is opened next
  return Done{};
}

void SeenSet::Impl::publish_tables(std::shared_ptr<const SeenTable> frozen) {
  const std::lock_guard lock(mutex_);
  active_ = table_;
  if (frozen != nullptr) frozen_ = std::move(frozen);
  make_version();
}

void SeenSet::Impl::publish_runs(bool frozen_is_a_run) {
  const SeenManifest& manifest = runs_->manifest();
  SeenStats stats;
  stats.runs = manifest.runs.size();
  for (const RunInfo& run : manifest.runs) stats.pieces += run.pieces.size();
  stats.filter_bytes = runs_->filter_bytes();
  stats.resident_filter_bytes = runs_->resident_filter_bytes();
  stats.memory_bytes = runs_->index_bytes() + stats.resident_filter_bytes + shares_.working_bytes;
  stats.run_bytes = runs_->run_bytes();
  stats.filter_file_bytes = runs_->filter_file_bytes();
  const std::uint64_t ids = ids_in_runs(manifest);
  if (ids > 0) {
    stats.filter_bits_per_id =
        static_cast<double>(stats.filter_bytes) * 8 / static_cast<double>(ids);
  }
  stats.flushes = runs_->counts().flushes;
  stats.merges = runs_->counts().merges;
  stats.merged_ids = runs_->counts().merged_ids;
  stats.rebuilt_filters = runs_->counts().rebuilt_filters;
  const std::lock_guard lock(mutex_);
  run_views_ = runs_->views();
  run_stats_ = stats;
  merge_due_ = runs_->merge_due();
  position_.first = manifest.first_log;
  if (frozen_is_a_run) frozen_ = nullptr;
  make_version();
}

void SeenSet::Impl::make_version() {
  version_ = std::make_shared<const SeenVersion>(SeenVersion{active_, frozen_, run_views_});
  epoch_.fetch_add(1, std::memory_order_release);
}

LogPosition SeenSet::Impl::position() const {
  const std::lock_guard lock(mutex_);
  return position_;
}

SeenStats SeenSet::Impl::stats() const {
  const std::lock_guard lock(mutex_);
  SeenStats stats = run_stats_;
  stats.ids = len();
  stats.recent_ids = active_->size() + (frozen_ != nullptr ? frozen_->size() : 0);
  stats.log_bytes = position_.bytes;
  stats.commits = commits_.load(std::memory_order_relaxed);
  stats.filter_probes = counts_.filter_probes;
  stats.filter_passes = counts_.filter_passes;
  stats.page_reads = counts_.page_reads;
  stats.hits = counts_.hits;
  stats.filter_page_reads = counts_.filter_page_reads;
  return stats;
}

Status SeenSet::Impl::for_each(const std::function<Status(SeenId)>& visit) {
  std::uint64_t epoch = 0;
  const auto now = version(epoch);
  for (const SeenTable* table : {now->table.get(), now->frozen.get()}) {
    if (table == nullptr) continue;
    for (const SeenId& id : table->ids()) KIN_RETURN_IF_ERROR(visit(id));
  }
  for (const RunView& run : now->runs) {
    std::vector<std::shared_ptr<const Piece>> pieces;
    for (const PieceView& view : run.pieces) pieces.push_back(view.piece);
    RunCursor cursor(pieces, run.from);
    KIN_RETURN_IF_ERROR(cursor.fill());
    while (!cursor.rest().empty()) {
      for (const SeenId& id : cursor.rest()) KIN_RETURN_IF_ERROR(visit(id));
      cursor.skip(cursor.rest().size());
      KIN_RETURN_IF_ERROR(cursor.fill());
    }
  }
  return Done{};
}

Status SeenSet::Impl::verify() {
  const std::lock_guard lock(runs_mutex_);
  return runs_->verify();
}

// ---- What callers hold ----

class SeenReader::Impl {
 public:
  explicit Impl(const SeenSet::Impl& set) : set_(set) {}
  ~Impl() { set_.add_counts(lookup_.take_counts()); }

  const SeenVersion& current() {
    if (set_.epoch() != epoch_) version_ = set_.version(epoch_);
    return *version_;
  }
  SeenLookup& lookup() { return lookup_; }

 private:
  const SeenSet::Impl& set_;
  SeenLookup lookup_;
  std::shared_ptr<const SeenVersion> version_;
  std::uint64_t epoch_ = 0;
};

SeenReader::SeenReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
SeenReader::~SeenReader() = default;

Result<bool> SeenReader::contains(SeenId id) {
  return impl_->lookup().contains(impl_->current(), id);
}

Status SeenReader::contains(std::span<const SeenId> ids, std::span<std::uint8_t> found) {
  KIN_CHECK(found.size() >= ids.size(), "an answer for every id");
  return impl_->lookup().contains(impl_->current(), ids, found);
}

SeenSet::SeenSet(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
SeenSet::~SeenSet() = default;

Result<std::unique_ptr<SeenSet>> SeenSet::open(const fs::path& folder, const SeenOptions& options) {
  KIN_TRY(auto impl, Impl::open(folder, options));
  return std::unique_ptr<SeenSet>(new SeenSet(std::move(impl)));
}

IdKind SeenSet::kind() const {
  return impl_->kind();
}
SeenId SeenSet::id_of(std::string_view text) const {
  KIN_CHECK(kind() == IdKind::kText, "a set of strings");
  return SeenId::text(text, impl_->seed());
}
Result<bool> SeenSet::contains(SeenId id) {
  return impl_->contains(id);
}
Status SeenSet::contains(std::span<const SeenId> ids, std::span<std::uint8_t> found) {
  return impl_->contains(ids, found);
}
Result<bool> SeenSet::insert(SeenId id) {
  std::uint8_t was_new = 0;
  KIN_RETURN_IF_ERROR(impl_->insert({&id, 1}, {&was_new, 1}));
  return was_new != 0;
}
Status SeenSet::insert(std::span<const SeenId> ids, std::span<std::uint8_t> was_new) {
  return impl_->insert(ids, was_new);
}
Result<std::uint64_t> SeenSet::commit() {
  return impl_->commit();
}
Status SeenSet::flush() {
  return impl_->flush();
}
Status SeenSet::settle() {
  return impl_->settle();
}
Status SeenSet::close() {
  return impl_->close();
}
std::uint64_t SeenSet::len() const {
  return impl_->len();
}
SeenStats SeenSet::stats() const {
  return impl_->stats();
}
Status SeenSet::for_each(const std::function<Status(SeenId)>& visit) {
  return impl_->for_each(visit);
}
Status SeenSet::verify() {
  return impl_->verify();
}
std::unique_ptr<SeenReader> SeenSet::reader() const {
  return std::unique_ptr<SeenReader>(new SeenReader(std::make_unique<SeenReader::Impl>(*impl_)));
}

}  // namespace kin::store
