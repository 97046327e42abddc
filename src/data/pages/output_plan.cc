#include "data/pages/output_plan.h"

#include <algorithm>

#include "base/bytes.h"
#include "data/pages/row_mask.h"

namespace kin::data {
namespace {

// The row after the `count`th kept row of [begin, end), or `end` if there are fewer.
std::uint64_t behind_kept(const RowMask& mask, std::uint64_t begin, std::uint64_t end,
                          std::uint64_t count) {
  std::uint64_t low = begin;
  std::uint64_t high = end;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (mask.count(begin, middle) < count) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// Divides the rows of a row group between the last group of the output and new ones.
void add_regrouped(std::deque<OutputGroup>& groups, Segment rows, const RowMask& mask,
                   std::uint64_t group_rows) {
  while (rows.begin < rows.end) {
    const bool full = groups.empty() || groups.back().rows == group_rows;
    Segment part = rows;
    part.end = behind_kept(mask, rows.begin, rows.end,
                           full ? group_rows : group_rows - groups.back().rows);
    const std::uint64_t kept = mask.count(part.begin, part.end);
    if (kept > 0) {
      if (full) groups.emplace_back();
      groups.back().rows += kept;
      groups.back().segments.push_back(part);
    }
    rows.begin = part.end;
  }
}

}  // namespace

std::deque<OutputGroup> plan_groups(const RewriteRequest& request) {
  std::deque<OutputGroup> groups;
  for (std::size_t f = 0; f < request.files.size(); ++f) {
    const SourceFile& file = request.files[f];
    const RowMask mask(request.keep, file.first_row);
    for (std::size_t g = 0; g < file.footer.groups.size(); ++g) {
      const GroupPlace& place = file.footer.groups[g];
      const Segment rows{f, g, place.first_row, place.first_row + place.rows};
      const std::uint64_t kept = mask.count(rows.begin, rows.end);
      if (kept == 0) continue;
      if (request.group_rows) {
        add_regrouped(groups, rows, mask, *request.group_rows);
      } else {
        groups.push_back({{rows}, kept, {}});
      }
    }
  }
  const std::size_t added = request.edits == nullptr ? 0 : request.edits->added().size();
  for (OutputGroup& group : groups)
    group.chunks.resize(request.files.front().footer.leaves.size() + added);
  return groups;
}

Leaf added_leaf(const RecordEdits::Column& column) {
  Leaf leaf;
  leaf.path = {column.name};
  leaf.max_definition = 1;
  switch (column.type) {
    case RecordEdits::Type::kInteger: leaf.type.physical = Physical::kInt64; break;
    case RecordEdits::Type::kReal: leaf.type.physical = Physical::kDouble; break;
    case RecordEdits::Type::kBoolean: leaf.type.physical = Physical::kBoolean; break;
    case RecordEdits::Type::kText: leaf.type.physical = Physical::kBytes; break;
  }
  return leaf;
}

std::optional<std::size_t> edited_column(const RewriteRequest& request, std::size_t leaf) {
  if (request.edits == nullptr) return {};
  const Footer& footer = request.files.front().footer;
  for (std::size_t i = 0; i < request.edits->replaced().size(); ++i) {
    if (find_leaf(footer, request.edits->replaced()[i]) == leaf) return i;
  }
  return {};
}

Packing packing_of(const RewriteRequest& request, const OutputGroup& group, std::size_t leaf) {
  const Segment& first = group.segments.front();
  const std::vector<ChunkPlace>& chunks =
      request.files[first.file].footer.groups[first.group].chunks;
  // Added columns are compressed like the last column of the inputs.
  const Codec stored =
      chunks.empty() ? Codec::kNone : chunks[std::min(leaf, chunks.size() - 1)].codec;
  return {request.codec.value_or(stored), request.level};
}

}  // namespace kin::data
