// Merges the segments of a table, and removes what nothing needs.
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
// The newest eight segments of about the same size, if there are as many and `written` is one of
// them: of the workers that share a table the one that wrote the eighth merges them. If there are
// sixteen, that one has died, and whoever looks merges them.
std::optional<MergeRange> merge_range(const std::vector<SegmentInfo>& segments,
                                      const std::string& written);

// One thread only. Borrows the table.
class Upkeep {
 public:
  explicit Upkeep(SegmentTable& table) : table_(table) {}

  // Merges until there is nothing to merge. `written`: the segment that this worker wrote last.
  Status merge(std::string written);
  // Removes segments that are not part of the table and manifests that nobody reads, if the last
  // clean-up is so long ago as the grace.
  Status clean_if_due();

 private:
  // The new segment; nothing if somebody else has changed these.
  Result<std::optional<std::string>> merge(const TableView& view, MergeRange range);
  Result<SegmentInfo> write_merged(const std::vector<std::shared_ptr<Segment>>& inputs,
                                   std::uint64_t& left_out);
  Result<std::vector<std::string>> old_segments(WallTime before);
  Status clean(WallTime now);
  Status remove(std::span<const std::string> names);
  // Those below `next.first`, and says so in `next`.
  Status remove_manifests(TableManifest& next);

  SegmentTable& table_;
};

}  // namespace kin::store
