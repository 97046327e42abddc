#include "store/seen/table.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace kin::store {

SeenTable::SeenTable(IdKind kind, std::uint64_t slots)
    : slots_(slots), shift_(64 - std::countr_zero(slots)), highs_(slots) {
  // A shift of 64 would be undefined.
  KIN_CHECK(std::has_single_bit(slots) && slots > 1, "slots are a power of two");
  if (kind == IdKind::kText) lows_ = HugeArray<std::atomic<std::uint64_t>>(slots);
}

std::uint64_t SeenTable::slots_for(std::uint64_t ids) {
  // Beyond seven tenths the chains of linear probing grow long.
  return std::max<std::uint64_t>(64, std::bit_ceil(ids * 10 / 7 + 10));
}

bool SeenTable::insert(SeenId id) {
  KIN_CHECK(size() < capacity(), "a table with room");
  // 0 marks a free slot, so the one number that is 0 has a flag of its own.
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
    // The low half first: a reader that sees the released high half also sees the low one.
    if (!lows_.empty()) lows_[slot].store(id.low, std::memory_order_relaxed);
    highs_[slot].store(id.high, std::memory_order_release);
  }
  size_.store(size() + 1, std::memory_order_relaxed);
  return true;
}

std::shared_ptr<SeenTable> SeenTable::copy(std::uint64_t slots) const {
  const IdKind kind = lows_.empty() ? IdKind::kNumber : IdKind::kText;
  auto table = std::make_shared<SeenTable>(kind, slots);
  for (const SeenId& id : ids()) table->insert(id);
  return table;
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
