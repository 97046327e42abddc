// A set of records of one run: one bit a record.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <vector>

#include "base/ids.h"

namespace kin {

// Records 0 … size - 1, each in the set or not. Thread-compatible; insert_shared() may
// also run beside itself.
class RecordSet {
 public:
  RecordSet() = default;
  explicit RecordSet(std::size_t size, bool all = false)
      : size_(size), words_((size + 63) / 64, all ? ~std::uint64_t{0} : 0) {
    // No bits past the end, so that they can be counted a word at a time.
    if (all && size % 64 != 0) words_.back() >>= 64 - size % 64;
  }

  // The number of records the set ranges over, not the number in it.
  std::size_t size() const { return size_; }

  // Records past the end are not in the set.
  bool contains(RecordId id) const {
    return row_number(id) < size_ && (words_[row_number(id) / 64] & bit(id)) != 0;
  }
  void insert(RecordId id) { words_[row_number(id) / 64] |= bit(id); }
  void insert_shared(RecordId id) {
    std::atomic_ref(words_[row_number(id) / 64]).fetch_or(bit(id), std::memory_order_relaxed);
  }
  void erase(RecordId id) { words_[row_number(id) / 64] &= ~bit(id); }

  std::size_t count() const {
    std::size_t total = 0;
    for (const std::uint64_t word : words_) total += static_cast<std::size_t>(std::popcount(word));
    return total;
  }

  // How many of the records [begin, end) are in the set. `end` is at most size().
  std::size_t count_between(std::size_t begin, std::size_t end) const {
    std::size_t total = 0;
    while (begin < end) {
      const std::size_t bits = std::min<std::size_t>(64 - begin % 64, end - begin);
      std::uint64_t word = words_[begin / 64] >> (begin % 64);
      if (bits < 64) word &= (std::uint64_t{1} << bits) - 1;
      total += static_cast<std::size_t>(std::popcount(word));
      begin += bits;
    }
    return total;
  }

  std::size_t bytes() const { return words_.size() * sizeof(std::uint64_t); }

 private:
  static std::uint64_t bit(RecordId id) { return std::uint64_t{1} << (row_number(id) % 64); }

  std::size_t size_ = 0;
  std::vector<std::uint64_t> words_;
};

}  // namespace kin
