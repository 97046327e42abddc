// The state that the writer, the background work and the readers of a seen set share.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/result.h"
#include "store/seen/lookup.h"
#include "store/seen/runs.h"
#include "store/seen/table.h"
#include "store/seen_set.h"

namespace kin::store {

// A full table that is becoming a run, and the log with the same ids.
struct FrozenTable {
  std::shared_ptr<const SeenTable> table;
  std::uint64_t log = 0;
};

// Thread-safe. Only the writer changes tables, and only the background work changes runs.
class SeenState {
 public:
  // Changes whenever version() does; cheap enough for every look-up.
  std::uint64_t epoch() const { return epoch_.load(std::memory_order_acquire); }
  // The version for look-ups, and its epoch.
  std::shared_ptr<const SeenVersion> version(std::uint64_t& epoch) const;

  // For the writer:
  void set_table(std::shared_ptr<const SeenTable> table);
  // `full` is to become a run; `table` takes its place.
  void freeze(FrozenTable full, std::shared_ptr<const SeenTable> table);
  void set_durable(std::uint64_t log, std::uint64_t bytes);

  // For the background work. A new run replaces the frozen table in one step.
  void set_runs(const SeenRuns& runs, bool frozen_is_a_run);
  FrozenTable frozen() const;

  LogPosition position() const;

  // The first error is kept.
  void poison(const Error& error);
  bool poisoned() const { return poisoned_.load(std::memory_order_acquire); }
  Error failure() const;

  // Asks the background to stop once no table waits to become a run.
  void stop();
  // Waits for work; false if the background work should end. After a second without inserts the set
  // merges more. For the background work.
  bool wait_for_work();
  // Returns when no table waits, or something failed.
  void wait_for_run();
  MergeRule merge_rule() const;
  // Asks for a single run, and returns when no work is left or something failed.
  void wait_for_quiet();

  void add_counts(const SeenLookupCounts& counts);
  SeenStats stats() const;

 private:
  void make_version();
  bool is_due(MergeRule rule) const { return due_[static_cast<std::size_t>(rule)]; }
  bool has_work() const { return frozen_.table != nullptr || is_due(rule_); }

  std::atomic<std::uint64_t> epoch_ = 0;
  std::atomic<bool> poisoned_ = false;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<const SeenVersion> version_;
  std::shared_ptr<const SeenTable> table_;
  FrozenTable frozen_;
  std::vector<RunView> runs_;
  LogPosition position_;
  std::optional<Error> failure_;
  bool stopping_ = false;
  MergeRule rule_ = MergeRule::kKeepFew;
  std::array<bool, 3> due_{};  // whether a merge is due, by each rule
  SeenStats run_stats_;
  SeenLookupCounts counts_;
};

}  // namespace kin::store
