#include "store/seen/state.h"

#include <chrono>

namespace kin::store {
namespace {

SeenStats describe(const SeenRuns& runs) {
  SeenStats stats;
  const SeenManifest& manifest = runs.manifest();
  stats.runs = manifest.runs.size();
  for (const RunInfo& run : manifest.runs) stats.pieces += run.pieces.size();
  const SeenRunsBytes bytes = runs.bytes();
  stats.filter_bytes = bytes.filters;
  stats.resident_filter_bytes = bytes.resident_filters;
  stats.memory_bytes = bytes.indexes + bytes.resident_filters;
  stats.run_bytes = bytes.run_files;
  stats.filter_file_bytes = bytes.filter_files;
  const auto ids = static_cast<double>(ids_in_runs(manifest));
  if (ids > 0) stats.filter_bits_per_id = static_cast<double>(stats.filter_bytes) * 8 / ids;
  stats.flushes = runs.counts().flushes;
  stats.merges = runs.counts().merges;
  stats.merged_ids = runs.counts().merged_ids;
  stats.rebuilt_filters = runs.counts().rebuilt_filters;
  return stats;
}

}  // namespace

std::shared_ptr<const SeenVersion> SeenState::version(std::uint64_t& epoch) const {
  const std::lock_guard lock(mutex_);
  // Under the lock, so version and epoch belong together.
  epoch = epoch_.load(std::memory_order_relaxed);
  return version_;
}

void SeenState::make_version() {
  version_ = std::make_shared<const SeenVersion>(SeenVersion{table_, frozen_.table, runs_});
  // After the new version is in place, so that a reader of the new epoch finds it.
  epoch_.fetch_add(1, std::memory_order_release);
}

void SeenState::set_table(std::shared_ptr<const SeenTable> table) {
  const std::lock_guard lock(mutex_);
  table_ = std::move(table);
  make_version();
}

void SeenState::freeze(FrozenTable full, std::shared_ptr<const SeenTable> table) {
  const std::lock_guard lock(mutex_);
  frozen_ = std::move(full);
  // Ids arrive again, so the set is not idle.
  rule_ = MergeRule::kKeepFew;
  table_ = std::move(table);
  make_version();
  changed_.notify_all();
}

void SeenState::set_durable(std::uint64_t log, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  position_.durable = log;
  position_.bytes = bytes;
}

void SeenState::set_runs(const SeenRuns& runs, bool frozen_is_a_run) {
  // Before the lock: it walks over all pieces.
  SeenStats stats = describe(runs);
  const std::lock_guard lock(mutex_);
  runs_ = runs.views();
  run_stats_ = stats;
  for (const MergeRule rule : {MergeRule::kKeepFew, MergeRule::kTidy, MergeRule::kOne})
    due_[static_cast<std::size_t>(rule)] = runs.merge_due(rule);
  position_.first = runs.manifest().first_log;
  // In one step with the new runs: a look-up finds the ids in one or the other.
  if (frozen_is_a_run) frozen_ = {};
  make_version();
  changed_.notify_all();
}

FrozenTable SeenState::frozen() const {
  const std::lock_guard lock(mutex_);
  return frozen_;
}

LogPosition SeenState::position() const {
  const std::lock_guard lock(mutex_);
  return position_;
}

void SeenState::poison(const Error& error) {
  const std::lock_guard lock(mutex_);
  // Later errors are mostly consequences of the first.
  if (!failure_) failure_ = error;
  poisoned_.store(true, std::memory_order_release);
  changed_.notify_all();
}

Error SeenState::failure() const {
  const std::lock_guard lock(mutex_);
  return *failure_;
}

void SeenState::stop() {
  const std::lock_guard lock(mutex_);
  stopping_ = true;
  changed_.notify_all();
}

bool SeenState::wait_for_work() {
  constexpr std::chrono::seconds kIdle{1};
  std::unique_lock lock(mutex_);
  // Wakes for work, and after an idle second if an idle set would merge more.
  while (!stopping_ && !failure_ && !has_work()) {
    const auto table = table_;
    const std::uint64_t size = table->size();
    if (!is_due(MergeRule::kTidy)) {
      changed_.wait(lock);
    } else if (changed_.wait_for(lock, kIdle) == std::cv_status::timeout) {
      // Nothing was added for a second.
      if (table == table_ && size == table->size()) rule_ = MergeRule::kTidy;
    }
  }
  // A waiting table becomes a run even when stopping; a merge can continue later.
  return !failure_ && (frozen_.table != nullptr || !stopping_);
}

MergeRule SeenState::merge_rule() const {
  const std::lock_guard lock(mutex_);
  return rule_;
}

void SeenState::wait_for_run() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return frozen_.table == nullptr || failure_; });
}

void SeenState::wait_for_quiet() {
  std::unique_lock lock(mutex_);
  rule_ = MergeRule::kOne;
  changed_.notify_all();
  changed_.wait(lock, [&] { return !has_work() || failure_; });
}

void SeenState::add_counts(const SeenLookupCounts& counts) {
  const std::lock_guard lock(mutex_);
  counts_ += counts;
}

SeenStats SeenState::stats() const {
  const std::lock_guard lock(mutex_);
  SeenStats stats = run_stats_;
  stats.recent_ids = table_->size() + (frozen_.table != nullptr ? frozen_.table->size() : 0);
  stats.log_bytes = position_.bytes;
  stats.filter_probes = counts_.filter_probes;
  stats.filter_passes = counts_.filter_passes;
  stats.page_reads = counts_.page_reads;
  stats.hits = counts_.hits;
  stats.filter_page_reads = counts_.filter_page_reads;
  return stats;
}

}  // namespace kin::store
