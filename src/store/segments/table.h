// A sorted map in a bucket, for any number of workers. Every change is one segment and one
// manifest.
//
//   KIN_TRY(auto table, SegmentTable::open(options, description));
//   TableChange change(*table);
//   for (;;) {
//     KIN_TRY(const auto view, table->refresh());
//     ...                                      // read, decide
//     change.set(entries);
//     KIN_TRY(const bool done, change.commit(*view, 0));
//     if (done) break;                         // else somebody came first: look again
//   }
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/disk.h"
#include "base/random.h"
#include "base/result.h"
#include "cloud/object_store.h"
#include "store/segments/manifest.h"
#include "store/segments/segment.h"

namespace kin::store {

// Combines the values of one key, oldest first, into one.
struct Joined {
  std::string value = {};
  std::uint64_t left_out = 0;  // the owner's count for TableManifest::capped
};
using Join = std::function<Joined(std::string_view key, std::vector<std::string> values)>;
// The newest value counts.
Joined join_newest(std::string_view key, std::vector<std::string> values);

struct TableOptions {
  std::filesystem::path cache_folder = {};
  std::uint64_t cache_bytes = std::uint64_t{10} << 30;
  Join join = &join_newest;
  // Objects that are not needed any more are removed at this age. A reader that uses a view for
  // longer may miss segments.
  std::chrono::milliseconds grace = std::chrono::hours(1);
  Clock* clock = &system_clock();
  std::uint64_t seed = 0;  // must differ between workers
  Disk* disk = nullptr;    // nullptr: the system's
};

// The table as of one manifest. Immutable.
struct TableView {
  TableManifest manifest;
  std::vector<std::shared_ptr<Segment>> segments;  // as in the manifest, oldest first
};
using ViewPtr = std::shared_ptr<const TableView>;

// Thread-safe. Borrows clock and disk.
class SegmentTable {
 public:
  // Opens the table; makes one with `description` if there is none. Without a description:
  // kNotFound if there is none. Reads one manifest, and no segment. kFailedPrecondition for a new
  // table on a server that ignores If-None-Match.
  static Result<std::unique_ptr<SegmentTable>> open(std::unique_ptr<cloud::ObjectStore> bucket,
                                                    const TableOptions& options,
                                                    const std::optional<std::string>& description);

  // The newest view that this process knows; refresh() asks the bucket. Views never go back. Never
  // nullptr once the table is open.
  ViewPtr current() const;
  Result<ViewPtr> refresh();

  // The values of the sorted `keys`, each oldest first; `skip` names segments to leave out.
  using Values = std::vector<std::vector<std::string>>;
  static Result<Values> get(const TableView& view, std::span<const std::string> keys,
                            const std::set<std::string>& skip = {});

  // Visits the keys from `from` on, joined, until `visit` returns false.
  using Visit = std::function<Result<bool>(std::string_view key, std::string_view value)>;
  Status scan(const TableView& view, std::string_view from, const Visit& visit) const;

  // Runs `work` with the newest view; repeats it if a clean-up removed segments meanwhile.
  template <typename Work>
  auto with_newest(const Work& work) -> decltype(work(std::declval<const TableView&>())) {
    constexpr int kTries = 3;
    for (int i = 1;; ++i) {
      KIN_TRY(const ViewPtr view, refresh());
      auto result = work(*view);
      if (result.ok() || result.error().code != Code::kNotFound || i == kTries) return result;
    }
  }

  // Merges segments and removes objects that are not needed, if it is time. `written`: the segment
  // of the change that was just made. Failures are harmless: they are counted, and the next call
  // tries again.
  void keep_up(const std::string& written);
  std::uint64_t keep_up_failures() const { return keep_up_failures_; }

  // A short random wait after the `tries`-th conflict in a row.
  void wait_after_conflict(int tries);

 private:
  friend class TableChange;
  friend class Upkeep;
  SegmentTable(std::unique_ptr<cloud::ObjectStore> bucket, const TableOptions& options);

  // Creates the first manifest, unless another worker does.
  Status make(const std::string& description);
  // The highest number of a manifest; nothing if there is none.
  Result<std::optional<std::uint64_t>> newest_number();
  ViewPtr adopt(TableManifest manifest);
  // Creates the manifest after `view`. False if another worker did.
  Result<bool> publish(const TableView& view, TableManifest next);
  std::uint64_t random();

  const std::unique_ptr<cloud::ObjectStore> bucket_;
  const TableOptions options_;
  SegmentCache cache_;
  mutable std::mutex mutex_;
  ViewPtr view_;
  Random random_;
  std::atomic<std::uint64_t> keep_up_failures_ = 0;
};

// A change of the table that is being tried. One thread only. Borrows the table.
class TableChange {
 public:
  explicit TableChange(SegmentTable& table) : table_(table) {}

  // The entries to write: sorted, each key once. Replaces those of a failed try.
  void set(std::vector<SegmentEntry> entries);
  // Makes the change if `view` is still the newest, and adds `new_records` to the count. Durable
  // when it returns true. After false nothing has changed; after an error the change may have been
  // made.
  Result<bool> commit(const TableView& view, std::uint64_t new_records);
  // The segment that was committed.
  const std::string& written() const { return uploaded_->name; }

 private:
  Status upload(const TableView& view);

  SegmentTable& table_;
  std::vector<SegmentEntry> entries_;
  std::optional<SegmentInfo> uploaded_;
  std::uint64_t uploaded_after_cleaning_ = 0;  // TableManifest::cleaned when it was uploaded
};

}  // namespace kin::store
