// The row groups of an output.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "data/pages/ordered_output.h"
#include "data/pages/rewrite.h"

namespace kin::data {

// Rows of one row group of one input.
struct Segment {
  std::size_t file = 0;
  std::size_t group = 0;
  std::uint64_t begin = 0;  // rows of the file
  std::uint64_t end = 0;
};

struct OutputGroup {
  std::vector<Segment> segments;    // each with a kept row; one unless row groups are regrouped
  std::uint64_t rows = 0;           // that are kept
  std::vector<OutputChunk> chunks;  // by leaf of the inputs, then by added column
};

// The row groups of the inputs that keep a row; or, if requested, groups of a given number of rows.
std::deque<OutputGroup> plan_groups(const RewriteRequest& request);

// A column that edits add, as a leaf of its own.
Leaf added_leaf(const RecordEdits::Column& column);

// The index of the replaced text that `leaf` holds, if edits replace it.
std::optional<std::size_t> edited_column(const RewriteRequest& request, std::size_t leaf);

// The compression of the chunk of a leaf, or of an added column after the leaves.
Packing packing_of(const RewriteRequest& request, const OutputGroup& group, std::size_t leaf);

}  // namespace kin::data
