#include "store/seen/table.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace kin::store {

SeenTable::SeenTable(IdKind kind, std::uint64_t slots)
    : slots_(slots), shift_(64 - std::countr_zero(slots)), highs_(slots) {
  KIN_CHECK(std::has_single_bit(slots) && slots > 1, "slots are a power of two");
  if (kind == IdKind::kText) lows_ = HugeArray<std::atomic<std::uint64_t>>(slots);
}

std::uint64_t SeenTable::slots_for(std::uint64_t ids) {
  return std::max<std::uint64_t>(64, std::bit_ceil(ids * 10 / 7 + 10));
}

bool SeenTable::insert(SeenId id) {
  KIN_CHECK(size() < capacity(), "a table with room");
  if (id.high == 0) {
    if (has_zero_.exchange(true, std::memory_order_release)) return false;
  } else {
    std::uint64_t slot = slot_of(id);
    for (;; slot = (slot + 1) & (slots_ - 1)) {
      const std::uint64_t high = highs_[slot].load(std::memory_order_relaxed);
      if (high == 0) break;
      if (high == id.high &&
          (lows_.empty() || lows_[slot].load(std::memory_order_relaxed) == id.low))
        return false;
    }
    if (!lows_.empty()) lows_[slot].store(id.low, std::memory_order_relaxed);
    highs_[slot].store(id.high, std::memory_order_release);
  }
  size_.store(size() + 1, std::memory_order_relaxed);
  return true;
}

std::uint64_t SeenTable::bytes() const {
  return slots_ * (lows_.empty() ? 8 : 16);
}

std::vector<SeenId> SeenTable::ids() const {
  std::vector<SeenId> out;
  out.reserve(size());
  if (has_zero_.load(std::memory_order_acquire)) out.push_back({});
  for (std::uint64_t slot = 0; slot < slots_; ++slot) {
    const std::uint64_t high = highs_[slot].load(std::memory_order_acquire);
    if (high == 0) continue;
    out.push_back({high, lows_.empty() ? 0 : lows_[slot].load(std::memory_order_relaxed)});
  }
  return out;
}

}  // namespace kin::store
