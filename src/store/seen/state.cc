#include "store/seen/state.h"

#include <chrono>

namespace kin::store {
namespace {

SeenStats describe(const SeenRuns& runs) {
  SeenStats stats;
  const SeenManifest& manifest = runs.manifest();
  stats.runs = manifest.runs.size();
  for (const RunInfo& run : manifest.runs) stats.pieces += run.pieces.size();
  stats.filter_bytes = runs.filter_bytes();
  stats.resident_filter_bytes = runs.resident_filter_bytes();
  stats.memory_bytes = runs.index_bytes() + stats.resident_filter_bytes;
  stats.run_bytes = runs.run_bytes();
  stats.filter_file_bytes = runs.filter_file_bytes();
  const std::uint64_t ids = ids_in_runs(manifest);
  if (ids > 0) {
    stats.filter_bits_per_id =
        static_cast<double>(stats.filter_bytes) * 8 / static_cast<double>(ids);
  }
  stats.flushes = runs.counts().flushes;
  stats.merges = runs.counts().merges;
  stats.merged_ids = runs.counts().merged_ids;
  stats.rebuilt_filters = runs.counts().rebuilt_filters;
  return stats;
}

}  // namespace

std::shared_ptr<const SeenVersion> SeenState::version(std::uint64_t& epoch) const {
  const std::lock_guard lock(mutex_);
  epoch = epoch_.load(std::memory_order_relaxed);
  return version_;
}

void SeenState::make_version() {
  version_ = std::make_shared<const SeenVersion>(SeenVersion{table_, frozen_.table, runs_});
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
  SeenStats stats = describe(runs);
  const std::lock_guard lock(mutex_);
  runs_ = runs.views();
  run_stats_ = stats;
  for (const MergeRule rule : {MergeRule::kKeepFew, MergeRule::kTidy, MergeRule::kOne})
    due_[static_cast<std::size_t>(rule)] = runs.merge_due(rule);
  position_.first = runs.manifest().first_log;
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
  while (!stopping_ && !failure_ && !has_work()) {
    const auto table = table_;
    const std::uint64_t size = table->size();
    if (!is_due(MergeRule::kTidy)) {
      changed_.wait(lock);
    } else if (changed_.wait_for(lock, kIdle) == std::cv_status::timeout) {
      if (table == table_ && size == table->size()) rule_ = MergeRule::kTidy;
    }
  }
  // A table that waits becomes a run even when stopping; a merge can go on another day.
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
