// What the writer of a seen set, its background and its readers share.
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

// A full table on its way to becoming a run, and the log that holds the same ids.
struct FrozenTable {
  std::shared_ptr<const SeenTable> table;
  std::uint64_t log = 0;
};

// Thread-safe. Who may change what: tables are the writer's, runs the background's.
class SeenState {
 public:
  // Changes whenever version() does, and can be asked at every look-up.
  std::uint64_t epoch() const { return epoch_.load(std::memory_order_acquire); }
  // The version to look things up in, and its epoch.
  std::shared_ptr<const SeenVersion> version(std::uint64_t& epoch) const;

  // The writer's.
  void set_table(std::shared_ptr<const SeenTable> table);
  // `full` is to become a run; `table` takes its place.
  void freeze(FrozenTable full, std::shared_ptr<const SeenTable> table);
  void set_durable(std::uint64_t log, std::uint64_t bytes);

  // The background's. The frozen table leaves the version as its run enters it.
  void set_runs(const SeenRuns& runs, bool frozen_is_a_run);
  FrozenTable frozen() const;

  LogPosition position() const;

  // The first error is kept.
  void poison(const Error& error);
  bool poisoned() const { return poisoned_.load(std::memory_order_acquire); }
  Error failure() const;

  // Asks the background to stop once no table waits to become a run.
  void stop();
  // Waits for work: false if there is none to come. If nothing is added for a while, tidying is
  // work too. For the background.
  bool wait_for_work();
  // Returns when no table waits, or something failed.
  void wait_for_run();
  MergeRule merge_rule() const;
  // Makes one run of all, and returns when no merge is due either, or something failed.
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
