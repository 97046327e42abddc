// The most recent ids, in memory: an open-addressed table that one thread fills while others read.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/huge_array.h"
#include "store/seen/id.h"

namespace kin::store {

// One thread inserts at a time; look-ups may run at the same time, and find every id whose insert
// happened before.
class SeenTable {
 public:
  // `slots` is a power of two; at most seven tenths are filled.
  SeenTable(IdKind kind, std::uint64_t slots);

  static std::uint64_t slots_for(std::uint64_t ids);
  static std::uint64_t slot_bytes(IdKind kind) { return kind == IdKind::kText ? 16 : 8; }

  bool contains(SeenId id) const;
  void prefetch(SeenId id) const { __builtin_prefetch(&highs_[slot_of(id)]); }
  // False if it was there already. There must be room.
  bool insert(SeenId id);

  std::uint64_t size() const { return size_.load(std::memory_order_relaxed); }
  // The most ids that it can hold.
  std::uint64_t capacity() const { return slots_ / 10 * 7; }
  std::uint64_t slots() const { return slots_; }
  // The same ids in a table of `slots`.
  std::shared_ptr<SeenTable> copy(std::uint64_t slots) const;
  // In no order.
  std::vector<SeenId> ids() const;

 private:
  std::uint64_t slot_of(SeenId id) const { return (id.high * 0x9e3779b97f4a7c15ULL) >> shift_; }

  std::uint64_t slots_;
  int shift_;
  std::atomic<std::uint64_t> size_ = 0;
  std::atomic<bool> has_zero_ = false;  // 0 marks a free slot; only a number can be 0
  HugeArray<std::atomic<std::uint64_t>> highs_;
  HugeArray<std::atomic<std::uint64_t>> lows_;  // empty for numbers
};

inline bool SeenTable::contains(SeenId id) const {
  if (size() == 0) return false;
  if (id.high == 0) return has_zero_.load(std::memory_order_acquire);
  for (std::uint64_t slot = slot_of(id);; slot = (slot + 1) & (slots_ - 1)) {
    const std::uint64_t high = highs_[slot].load(std::memory_order_acquire);
    if (high == 0) return false;
    if (high == id.high && (lows_.empty() || lows_[slot].load(std::memory_order_relaxed) == id.low))
      return true;
  }
}

}  // namespace kin::store
