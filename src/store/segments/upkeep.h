// Merges the segments of a table, and removes objects that are not needed.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "store/segments/table.h"

namespace kin::store {

// Segments [first, last) of a manifest that are to become one.
struct MergeRange {
  std::size_t first = 0;
  std::size_t last = 0;
  friend bool operator==(const MergeRange&, const MergeRange&) = default;
};
// The newest eight segments of about the same size, if there are that many and `written` is one of
// them: the worker that wrote the eighth merges them. If there are sixteen, that worker has died,
// and any worker merges them.
std::optional<MergeRange> merge_range(const std::vector<SegmentInfo>& segments,
                                      const std::string& written);

// One thread only. Borrows the table.
class Upkeep {
 public:
  explicit Upkeep(SegmentTable& table) : table_(table) {}

  // Merges until there is nothing to merge. `written`: the segment that this worker wrote last.
  Status merge(std::string written);
  // Removes segments that are not part of the table and manifests that nobody reads, if the last
  // clean-up is older than the grace.
  Status clean_if_due();

 private:
  // The new segment; nothing if another worker has changed these.
  Result<std::optional<std::string>> merge(const TableView& view, MergeRange range);
  Result<SegmentInfo> write_merged(const std::vector<std::shared_ptr<Segment>>& inputs,
                                   std::uint64_t& left_out);
  Result<std::vector<std::string>> old_segments(WallTime before);
  Status clean(WallTime now);
  Status remove(std::span<const std::string> names);
  // Removes the manifests below `next.first`, and records that in `next`.
  Status remove_manifests(TableManifest& next);

  SegmentTable& table_;
};

}  // namespace kin::store
