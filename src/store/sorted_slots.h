// A table of 8-byte slots that is always nearly full: the building block of the in-memory indexes.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

namespace kin::store {

// Reallocates memory in whole pages directly from the system, which extends it without copying; a
// general allocator wastes a fifth on many tables that all grow slowly. `slots` and `old_count`
// are those of an earlier call, or null and 0; a new count of 0 frees. New slots are
// uninitialised.
inline constexpr std::size_t kSlotsPerPage = 512;
std::uint64_t* resize_slots(std::uint64_t* slots, std::size_t old_count, std::size_t new_count);

// A multimap from tags of `kTagBits` bits to payloads of the other bits of a 64-bit slot. Linear
// probing whose home position rises with the tag, with entries kept in the order of their tags
// (Robin Hood), equal tags in the order of insertion. So a look-up stops early, and the table can
// grow by a tenth in place: beyond a few pages it is 83 % to 91 % full at all times, and is never
// copied. Tags should be spread evenly.
//
// The slot of all ones is reserved. Thread-compatible.
template <int kTagBits>
class SortedSlots {
 public:
  static constexpr std::uint64_t kEmpty = std::numeric_limits<std::uint64_t>::max();
  static constexpr int kPayloadBits = 64 - kTagBits;

  SortedSlots() = default;
  SortedSlots(SortedSlots&& other) noexcept
      : slots_(std::exchange(other.slots_, nullptr)),
        capacity_(std::exchange(other.capacity_, 0)),
        homes_(std::exchange(other.homes_, 0)),
        used_(std::exchange(other.used_, 0)) {}
  SortedSlots& operator=(SortedSlots&&) = delete;
  ~SortedSlots() { clear(); }

  static constexpr std::uint64_t pack(std::uint64_t tag, std::uint64_t payload) {
    return (tag << kPayloadBits) | payload;
  }
  static constexpr std::uint64_t tag_of(std::uint64_t slot) { return slot >> kPayloadBits; }
  static constexpr std::uint64_t payload_of(std::uint64_t slot) {
    return slot & ((std::uint64_t{1} << kPayloadBits) - 1);
  }

  // The slots that hold `tag`, in the order of insertion. Valid until the next change.
  std::span<const std::uint64_t> find(std::uint64_t tag) const {
    if (capacity_ == 0) return {};
    const std::size_t first = lower(tag);
    std::size_t last = first;
    while (last < capacity_ && slots_[last] != kEmpty && tag_of(slots_[last]) == tag) ++last;
    return {slots_ + first, last - first};
  }

  void prefetch(std::uint64_t tag) const {
    if (capacity_ == 0) return;
    const std::uint64_t* const first = slots_ + home(tag);
    for (std::size_t ahead = 0; ahead < 24; ahead += 8) __builtin_prefetch(first + ahead);
  }

  void insert(std::uint64_t tag, std::uint64_t payload) {
    if (used_ >= max_used(homes_)) grow();
    while (!try_insert(pack(tag, payload))) extend_tail();
    ++used_;
  }

  // Replaces the payload of a slot that find() returned.
  void replace(const std::uint64_t& slot, std::uint64_t payload) {
    slots_[&slot - slots_] = pack(tag_of(slot), payload);
  }

  // Removes every entry for which drop(slot) is true, and frees the memory.
  template <typename Drop>
  void compact(Drop drop) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < capacity_; ++i) {
      if (slots_[i] != kEmpty && !drop(slots_[i])) slots_[kept++] = slots_[i];
    }
    std::fill(slots_ + kept, slots_ + capacity_, kEmpty);
    used_ = static_cast<std::uint32_t>(kept);
    const Layout layout = plan(0);
    if (layout.capacity <= capacity_) {
      spread(layout);
      slots_ = resize_slots(slots_, capacity_, layout.capacity);
      capacity_ = layout.capacity;
    } else {
      resize(layout);
    }
  }

  template <typename Visit>
  void for_each(Visit visit) const {
    for (std::size_t i = 0; i < capacity_; ++i) {
      if (slots_[i] != kEmpty) visit(slots_[i]);
    }
  }

  std::size_t size() const { return used_; }
  std::size_t bytes() const { return capacity_ * sizeof(std::uint64_t); }

  void clear() {
    slots_ = resize_slots(slots_, capacity_, 0);
    capacity_ = homes_ = used_ = 0;
  }

 private:
  struct Layout {
    std::uint32_t homes;
    std::uint32_t capacity;
  };

  // Slots after the last home position, for entries that are pushed past it.
  static constexpr std::uint32_t kTail = 24;

  static std::size_t max_used(std::size_t homes) { return homes - homes / 11; }
  std::size_t home(std::uint64_t tag) const { return home(tag, homes_); }
  static std::size_t home(std::uint64_t tag, std::uint64_t homes) {
    static_assert(kTagBits <= 32, "the product must fit in 64 bits");
    return (tag * homes) >> kTagBits;
  }

  std::size_t lower(std::uint64_t tag) const {
    std::size_t at = home(tag);
    while (at < capacity_ && slots_[at] != kEmpty && tag_of(slots_[at]) < tag) ++at;
    return at;
  }

  // The first empty slot from `at` on, or the end. Checks eight at a time, because most of the time
  // of an insertion is spent here.
  std::size_t next_empty(std::size_t at) const {
    for (; at + 8 <= capacity_; at += 8) {
      std::uint64_t any = 0;
      for (std::size_t i = 0; i < 8; ++i)
        any |= static_cast<std::uint64_t>(slots_[at + i] == kEmpty) << i;
      if (any != 0) return at + static_cast<std::size_t>(std::countr_zero(any));
    }
    while (at < capacity_ && slots_[at] != kEmpty) ++at;
    return at;
  }

  // False if there is no free slot between the tag's home and the end.
  bool try_insert(std::uint64_t slot) {
    if (capacity_ == 0) return false;
    std::size_t at = lower(tag_of(slot));
    while (at < capacity_ && slots_[at] != kEmpty && tag_of(slots_[at]) == tag_of(slot)) ++at;
    const std::size_t gap = next_empty(at);
    if (gap == capacity_) return false;
    std::move_backward(slots_ + at, slots_ + gap, slots_ + gap + 1);
    slots_[at] = slot;
    return true;
  }

  // A layout about 83 % full in whole pages, with at least this many slots, and a tail long enough
  // for the existing entries.
  Layout plan(std::size_t least) const {
    std::size_t slots = (used_ + used_ / 5) / kSlotsPerPage * kSlotsPerPage;
    while (slots < least || slots <= kTail || max_used(slots - kTail) <= used_)
      slots += kSlotsPerPage;
    const std::size_t homes = slots - kTail;
    std::size_t next = 0;
    for_each([&](std::uint64_t slot) { next = std::max(next, home(tag_of(slot), homes)) + 1; });
    while (next + kTail / 2 > slots) slots += kSlotsPerPage;
    return {static_cast<std::uint32_t>(homes), static_cast<std::uint32_t>(slots)};
  }

  void grow() { resize(plan(capacity_ + kSlotsPerPage)); }

  // No entry moves: only the tail gets more slots.
  void extend_tail() { add_slots(capacity_ + kSlotsPerPage); }

  void add_slots(std::uint32_t capacity) {
    slots_ = resize_slots(slots_, capacity_, capacity);
    std::fill(slots_ + capacity_, slots_ + capacity, kEmpty);
    capacity_ = capacity;
  }

  // Grows to the layout's slots: entries first move to the far end, then each to its place.
  void resize(Layout layout) {
    add_slots(layout.capacity);
    spread(layout);
  }

  // Redistributes entries within the existing slots, which the layout must fit into.
  void spread(Layout layout) {
    std::size_t far = capacity_;
    for (std::size_t i = capacity_; i-- > 0;) {
      if (slots_[i] == kEmpty) continue;
      const std::uint64_t slot = std::exchange(slots_[i], kEmpty);
      slots_[--far] = slot;
    }
    homes_ = layout.homes;
    std::size_t next = 0;
    for (; far < capacity_; ++far) {
      const std::uint64_t slot = std::exchange(slots_[far], kEmpty);
      next = std::max(next, home(tag_of(slot)));
      slots_[next++] = slot;
    }
  }

  std::uint64_t* slots_ = nullptr;
  std::uint32_t capacity_ = 0;
  std::uint32_t homes_ = 0;
  std::uint32_t used_ = 0;
};

}  // namespace kin::store
