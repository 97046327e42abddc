#include "store/seen_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "base/check.h"
#include "store/seen/background.h"
#include "store/seen/lookup.h"
#include "store/seen/merge.h"
#include "store/seen/recovery.h"
#include "store/seen/state.h"

namespace kin::store {
namespace fs = std::filesystem;
namespace {

using Mode = SeenOptions::Mode;

// Larger tables miss the cache at every look-up, smaller ones make many small runs.
constexpr std::uint64_t kMostTableSlots = std::uint64_t{1} << 19;
constexpr std::uint64_t kLeastTableSlots = std::uint64_t{1} << 12;
// Memory of a merge beside the filter it makes: decoded pages of its runs and a write buffer.
constexpr std::uint64_t kMergeBytes = std::uint64_t{4} << 20;
// Ids are looked up by the chunk, so that their cache misses overlap.
constexpr std::size_t kInsertChunk = 512;
// Counters of look-ups are published after this many probes: often enough, and at no cost.
constexpr std::uint64_t kSharedProbes = 8192;

// The parts of a memory limit.
struct Shares {
  std::uint64_t table_ids = 0;
  std::uint64_t piece_ids = 0;
  std::uint64_t working_bytes = 0;  // all but resident filters and page index
};

// Two tables, one of them being written out, and the sorted ids of that one.
std::uint64_t table_share(std::uint64_t ids, IdKind kind) {
  return 2 * SeenTable::slots_for(ids) * SeenTable::slot_bytes(kind) + ids * sizeof(SeenId);
}

Shares share_out(const SeenOptions& options, IdKind kind) {
  std::uint64_t slots = kMostTableSlots;
  // The inverse of SeenTable::slots_for(), which fills seven tenths of the slots.
  const auto ids_in = [](std::uint64_t in) { return in / 10 * 7 - 10; };
  while (slots > kLeastTableSlots && table_share(ids_in(slots), kind) > options.max_memory / 3) {
    slots /= 2;
  }
  Shares shares;
  shares.table_ids = options.table_ids != 0 ? options.table_ids : ids_in(slots);
  // A merge holds the filter of the piece that it writes, at about 9/8 bytes per id.
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

// Look-ups in the newest version.
class Reader final : public SeenReader {
 public:
  explicit Reader(SeenState& state) : state_(state) {}
  ~Reader() override { share_counts(0); }

  Result<bool> contains(SeenId id) override { return lookup_.contains(current(), id); }
  Status contains(std::span<const SeenId> ids, std::span<std::uint8_t> found) override {
    KIN_CHECK(found.size() >= ids.size(), "an answer for every id");
    return lookup_.contains(current(), ids, found);
  }
  // Adds its counters to those of the set if it has asked at least this many filters.
  void share_counts(std::uint64_t least_probes) {
    if (lookup_.counts().filter_probes >= least_probes) state_.add_counts(lookup_.take_counts());
  }
  // Releases the files of the version.
  void release() { version_.reset(); }

 private:
  const SeenVersion& current() {
    // The common case takes no lock and touches no reference count.
    if (state_.epoch() != epoch_) version_ = state_.version(epoch_);
    return *version_;
  }

  SeenState& state_;
  SeenLookup lookup_;
  std::shared_ptr<const SeenVersion> version_;
  std::uint64_t epoch_ = 0;
};

class OpenSet final : public SeenSet {
 public:
  static Result<std::unique_ptr<SeenSet>> open(const fs::path& folder, const SeenOptions& options);
  ~OpenSet() override { (void)OpenSet::close(); }

  IdKind kind() const override { return placement_.kind; }
  SeenId id_of(std::string_view text) const override;
  Result<bool> contains(SeenId id) override;
  Status contains(std::span<const SeenId> ids, std::span<std::uint8_t> found) override;
  Result<bool> insert(SeenId id) override;
  Status insert(std::span<const SeenId> ids, std::span<std::uint8_t> was_new) override;
  Result<std::uint64_t> commit() override;
  Status flush() override;
  Status settle() override;
  Status close() override;
  std::uint64_t len() const override { return ids_.load(std::memory_order_relaxed); }
  SeenStats stats() const override;
  Status for_each(const std::function<Status(SeenId)>& visit) override;
  Status verify() override { return background_->verify(); }
  std::unique_ptr<SeenReader> reader() const override { return std::make_unique<Reader>(state_); }

 private:
  OpenSet(SeenPlacement placement, const SeenOptions& options)
      : placement_(std::move(placement)), options_(options) {}
  Status open_to_write();
  Status open_to_read();
  Status take_up(SeenManifest manifest);
  Status insert_chunk(std::span<const SeenId> ids, std::span<std::uint8_t> was_new);
  void make_room(std::uint64_t ids);
  Status rotate();
  Status work_off(MergeRule rule);
  Status check_writable() const;
  template <typename T>
  Result<T> or_poison(Result<T> result);

  SeenPlacement placement_;
  SeenOptions options_;
  Shares shares_;
  std::uint64_t seed_ = 0;
  std::unique_ptr<DiskFile> lock_;
  mutable SeenState state_;
  std::unique_ptr<SeenBackground> background_;

  // State of the writer.
  std::shared_ptr<SeenTable> table_;
  std::optional<SeenLogWriter> log_;  // nothing when opened to read
  Reader lookup_{state_};
  std::vector<std::uint8_t> found_;
  bool closed_ = false;
  std::atomic<std::uint64_t> ids_ = 0;
  std::atomic<std::uint64_t> commits_ = 0;
};

Result<std::unique_ptr<SeenSet>> OpenSet::open(const fs::path& folder, const SeenOptions& options) {
  KIN_RETURN_IF_ERROR(check(folder, options));
  std::unique_ptr<OpenSet> set(new OpenSet({options.disk, folder, IdKind::kNumber}, options));
  const bool read_only = options.mode == Mode::kRead;
  KIN_RETURN_IF_ERROR(read_only ? set->open_to_read() : set->open_to_write());
  if (!read_only && options.background) set->background_->start();
  return std::unique_ptr<SeenSet>(std::move(set));
}

Status OpenSet::open_to_write() {
  Disk& disk = *placement_.disk;
  // The error of a missing set must come before the folder is made.
  if (options_.mode == Mode::kOpen) {
    KIN_TRY(const bool there, disk.exists(placement_.folder));
    if (!there) KIN_RETURN_IF_ERROR(find_or_make_manifest(placement_.folder, options_));
  }
  KIN_RETURN_IF_ERROR(disk.make_folder(placement_.folder));
  KIN_TRY(lock_, disk.open_to_write(placement_.folder / kLockName));
  // The operating system releases the lock when the process ends, however it ends.
  if (!lock_->lock()) {
    return Error{Code::kFailedPrecondition,
                 fmt::format("{} is open for writing in another process, and one may write at a "
                             "time (wait for it; looking things up needs no waiting)",
                             placement_.folder.string())};
  }
  KIN_TRY(SeenManifest manifest, find_or_make_manifest(placement_.folder, options_));
  placement_.kind = manifest.kind;
  // A process that died may not have synced the name of the manifest that we see; it must be
  // durable before we build on it and remove files that only an older one names.
  KIN_RETURN_IF_ERROR(disk.sync_folder(placement_.folder));
  KIN_RETURN_IF_ERROR(remove_leftovers(placement_, manifest));
  return take_up(std::move(manifest));
}

// A writer may merge files away between our reading the manifest and opening them; then there is a
// newer manifest, and the next attempt opens the files that it names.
Status OpenSet::open_to_read() {
  constexpr int kAttempts = 20;
  constexpr std::chrono::milliseconds kPause(10);
  for (int attempt = 1;; ++attempt) {
    KIN_TRY(SeenManifest manifest, find_or_make_manifest(placement_.folder, options_));
    placement_.kind = manifest.kind;
    const SeenManifest before = manifest;
    const Status status = take_up(std::move(manifest));
    if (status.ok() || attempt == kAttempts) return status;
    const auto now = find_or_make_manifest(placement_.folder, options_);
    // The first two failures are tried again at once.
    if (attempt <= 2) continue;
    // The manifest is unchanged, so no writer is active and the files are really missing.
    if (now && *now == before) return status;
    if (options_.clock != nullptr) options_.clock->sleep_for(kPause);
  }
}

Status OpenSet::take_up(SeenManifest manifest) {
  const bool read_only = options_.mode == Mode::kRead;
  seed_ = manifest.seed;
  shares_ = share_out(options_, placement_.kind);
  // Memory that tables and merges do not use is for filters.
  const std::uint64_t working = std::min(shares_.working_bytes, options_.max_memory);
  KIN_TRY(auto runs, SeenRuns::open(placement_,
                                    {.piece_ids = shares_.piece_ids,
                                     .small_run_ids = 4 * shares_.table_ids,
                                     .filter_memory = options_.max_memory - working,
                                     .read_only = read_only},
                                    std::move(manifest)));
  KIN_TRY(RecoveredLogs recovered, recover_logs(placement_, *runs, read_only));
  table_ = std::move(recovered.table);
  log_ = std::move(recovered.log);
  // Runs and table are disjoint: an id is added to the table only if no run has it.
  ids_ = ids_in_runs(runs->manifest()) + table_->size();
  state_.set_durable(log_ ? log_->number() : 0, recovered.log_bytes);
  state_.set_table(table_);
  state_.set_runs(*runs, false);
  background_ = std::make_unique<SeenBackground>(placement_, state_, std::move(runs));
  return Done{};
}

// ---- Look-ups ----

SeenId OpenSet::id_of(std::string_view text) const {
  KIN_CHECK(kind() == IdKind::kText, "a set of strings");
  return SeenId::text(text, seed_);
}

Result<bool> OpenSet::contains(SeenId id) {
  lookup_.share_counts(kSharedProbes);
  return lookup_.contains(id);
}

Status OpenSet::contains(std::span<const SeenId> ids, std::span<std::uint8_t> found) {
  lookup_.share_counts(kSharedProbes);
  return lookup_.contains(ids, found);
}

Status OpenSet::for_each(const std::function<Status(SeenId)>& visit) {
  // One version for the whole walk. Ids that are inserted meanwhile may or may not be visited.
  std::uint64_t epoch = 0;
  const auto version = state_.version(epoch);
  for (const SeenTable* table : {version->table.get(), version->frozen.get()}) {
    if (table == nullptr) continue;
    for (const SeenId& id : table->ids()) KIN_RETURN_IF_ERROR(visit(id));
  }
  for (const RunView& run : version->runs) {
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

SeenStats OpenSet::stats() const {
  SeenStats stats = state_.stats();
  stats.ids = len();
  stats.commits = commits_.load(std::memory_order_relaxed);
  stats.memory_bytes += shares_.working_bytes;
  return stats;
}

// ---- Writing ----

Status OpenSet::check_writable() const {
  if (!log_) {
    return Error{Code::kFailedPrecondition,
                 fmt::format("{} was opened to read", placement_.folder.string())};
  }
  // An atomic flag, because every insert checks it; the error itself is behind a lock.
  if (!state_.poisoned()) return Done{};
  const Error failure = state_.failure();
  return Error{failure.code,
               fmt::format("{} refuses writes since an earlier failure: {} (what was committed is "
                           "safe; open the set again once the cause is fixed)",
                           placement_.folder.string(), failure.message)};
}

template <typename T>
Result<T> OpenSet::or_poison(Result<T> result) {
  if (!result) state_.poison(result.error());
  return result;
}

Result<bool> OpenSet::insert(SeenId id) {
  std::uint8_t was_new = 0;
  KIN_RETURN_IF_ERROR(insert({&id, 1}, {&was_new, 1}));
  return was_new != 0;
}

Status OpenSet::insert(std::span<const SeenId> ids, std::span<std::uint8_t> was_new) {
  KIN_CHECK(was_new.size() >= ids.size(), "an answer for every id");
  while (!ids.empty()) {
    KIN_RETURN_IF_ERROR(check_writable());
    // A full table is replaced before the chunk is inserted.
    if (table_->size() >= shares_.table_ids) KIN_RETURN_IF_ERROR(rotate());
    const std::uint64_t room = shares_.table_ids - table_->size();
    const std::size_t count = std::min<std::uint64_t>({ids.size(), kInsertChunk, room});
    KIN_RETURN_IF_ERROR(insert_chunk(ids.first(count), was_new.first(count)));
    ids = ids.subspan(count);
    was_new = was_new.subspan(count);
  }
  return Done{};
}

Status OpenSet::insert_chunk(std::span<const SeenId> ids, std::span<std::uint8_t> was_new) {
  make_room(ids.size());
  found_.resize(ids.size());
  KIN_RETURN_IF_ERROR(contains(ids, found_));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    // The look-up does not see repeats within the chunk; the table does.
    was_new[i] = found_[i] == 0 && table_->insert(ids[i]) ? 1 : 0;
    if (was_new[i] == 0) continue;
    // Only the writer changes the count, so a load and a store are enough.
    ids_.store(len() + 1, std::memory_order_relaxed);
    KIN_RETURN_IF_ERROR(or_poison(log_->add(ids[i])));
  }
  return Done{};
}

void OpenSet::make_room(std::uint64_t ids) {
  // Tables grow by doubling up to their share, so that a small set stays small in memory.
  const std::uint64_t wanted =
      std::max(table_->size() + ids, std::min(options_.expected_ids, shares_.table_ids));
  if (wanted <= table_->capacity()) return;
  table_ = table_->copy(std::max(SeenTable::slots_for(wanted), table_->slots() * 2));
  state_.set_table(table_);
}

Result<std::uint64_t> OpenSet::commit() {
  KIN_RETURN_IF_ERROR(check_writable());
  KIN_RETURN_IF_ERROR(or_poison(log_->sync()));
  commits_.fetch_add(1, std::memory_order_relaxed);
  lookup_.share_counts(0);
  state_.set_durable(log_->number(), log_->durable_bytes());
  return len();
}

// Hands the table and its log to the background, to become a run; a new pair replaces them. The new
// log exists before the old one is sealed.
Status OpenSet::rotate() {
  state_.wait_for_run();
  KIN_RETURN_IF_ERROR(check_writable());
  // The old log is complete and durable before the new one exists.
  KIN_RETURN_IF_ERROR(or_poison(log_->sync()));
  auto next = or_poison(SeenLogWriter::create(placement_, log_->number() + 1, len()));
  if (!next) return next.error();
  KIN_RETURN_IF_ERROR(or_poison(log_->seal()));
  const std::uint64_t old = std::exchange(*log_, std::move(*next)).number();
  state_.set_durable(log_->number(), log_->durable_bytes());
  // Look-ups see the frozen table until its run replaces it.
  FrozenTable full{table_, old};
  table_ = std::make_shared<SeenTable>(kind(), SeenTable::slots_for(0));
  state_.freeze(std::move(full), table_);
  return options_.background ? Status(Done{}) : work_off(MergeRule::kKeepFew);
}

Status OpenSet::flush() {
  KIN_RETURN_IF_ERROR(commit());
  if (table_->size() > 0) KIN_RETURN_IF_ERROR(rotate());
  // The background may still be writing the run, or have failed to.
  state_.wait_for_run();
  return check_writable();
}

Status OpenSet::settle() {
  KIN_RETURN_IF_ERROR(check_writable());
  if (options_.background) {
    state_.wait_for_quiet();
    return check_writable();
  }
  return work_off(MergeRule::kOne);
}

Status OpenSet::work_off(MergeRule rule) {
  // Without a background thread the caller does its work, a step at a time.
  for (;;) {
    KIN_TRY(const StepOutcome outcome, background_->step(rule));
    if (!outcome.did_work()) return Done{};
  }
}

Status OpenSet::close() {
  // Also called by the destructor, and for a set that failed to open.
  if (std::exchange(closed_, true) || background_ == nullptr) return Done{};
  Status status = Done{};
  if (log_) {
    if (const auto committed = commit(); !committed) status = committed.error();
  }
  background_->stop();
  if (log_ && status.ok()) status = check_writable();
  // The manifest records how much of the log is durable, so that opening need not write the log
  // again.
  if (log_ && status.ok()) status = background_->note_log(state_.position());
  lookup_.release();
  lock_.reset();
  return status;
}

}  // namespace

Result<std::unique_ptr<SeenSet>> SeenSet::open(const fs::path& folder, const SeenOptions& options) {
  return OpenSet::open(folder, options);
}

}  // namespace kin::store
