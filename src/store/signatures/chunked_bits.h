// A set of records that grows with the highest of them.
#pragma once

#include <cstdint>

#include "base/ids.h"
#include "store/signatures/chunked_array.h"

namespace kin::store {

// One bit a record. Thread-compatible.
class ChunkedBits {
 public:
  bool contains(RecordId id) const {
    const std::uint64_t* word = words_.find(row_number(id) / 64);
    return word != nullptr && (*word & bit(id)) != 0;
  }
  // True if it was new.
  bool insert(RecordId id) {
    std::uint64_t& word = words_.make(row_number(id) / 64);
    if ((word & bit(id)) != 0) return false;
    word |= bit(id);
    ++count_;
    return true;
  }
  // True if it existed.
  bool erase(RecordId id) {
    if (!contains(id)) return false;
    *words_.find(row_number(id) / 64) &= ~bit(id);
    --count_;
    return true;
  }
  std::size_t count() const { return count_; }
  void clear() {
    words_.clear();
    count_ = 0;
  }
  std::size_t bytes() const { return words_.bytes(); }

 private:
  static std::uint64_t bit(RecordId id) { return std::uint64_t{1} << (row_number(id) % 64); }

  ChunkedArray<std::uint64_t> words_;
  std::size_t count_ = 0;
};

}  // namespace kin::store
