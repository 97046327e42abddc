// The rows of one file that an output keeps.
#pragma once

#include <cstdint>

#include "base/record_set.h"

namespace kin::data {

// Rows are counted from the beginning of the file. Thread-safe.
class RowMask {
 public:
  // `keep` covers all inputs, in which the file begins at `first_row`; it must outlive the mask.
  RowMask(const RecordSet& keep, std::uint64_t first_row) : keep_(&keep), first_row_(first_row) {}

  bool kept(std::uint64_t row) const { return keep_->contains(record(row)); }
  std::uint64_t count(std::uint64_t begin, std::uint64_t end) const {
    return keep_->count_between(first_row_ + begin, first_row_ + end);
  }
  RecordId record(std::uint64_t row) const {
    return RecordId(static_cast<std::uint32_t>(first_row_ + row));
  }

 private:
  const RecordSet* keep_;
  std::uint64_t first_row_;
};

}  // namespace kin::data
