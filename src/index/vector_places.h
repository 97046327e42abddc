// Where each id's vector is. One thread changes it while others read.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace kin::index {

// What became of an id.
enum class VectorState : std::uint8_t {
  kAbsent,          // never inserted, or removed and reclaimed
  kPending,         // found by searches; waits for its partition
  kIndexed,         // in a partition
  kPendingDeleted,  // removed while it waited; its row is still to be reclaimed
  kDeleted,         // removed from its partition; its slot is still to be reclaimed
};

// A place in a partition, or a state without one, in 32 bits.
struct Place {
  static constexpr std::uint32_t kSlotBits = 12;
  static constexpr std::uint32_t kMostPartitions = (1U << (32 - kSlotBits)) - 1;

  std::uint32_t word = 0;

  static Place at(std::uint32_t partition, std::uint32_t slot) {
    return {(partition + 1) << kSlotBits | slot};
  }
  static Place without(VectorState state) { return {static_cast<std::uint32_t>(state)}; }
  bool is_indexed() const { return word >= 1U << kSlotBits; }
  VectorState state() const {
    return is_indexed() ? VectorState::kIndexed : static_cast<VectorState>(word);
  }
  std::uint32_t partition() const { return (word >> kSlotBits) - 1; }
  std::uint32_t slot() const { return word & ((1U << kSlotBits) - 1); }
};

// Thread-safe for one writer and any number of readers.
class PlaceTable {
 public:
  ~PlaceTable() {
    for (auto& page : pages_) std::free(page.load());
  }
  PlaceTable() = default;
  PlaceTable(const PlaceTable&) = delete;
  PlaceTable& operator=(const PlaceTable&) = delete;

  Place get(std::uint32_t id) const {
    const Cell* page = pages_[id >> kPageBits].load(std::memory_order_acquire);
    if (page == nullptr) return {};
    return {page[id & kInPage].load(std::memory_order_acquire)};
  }
  // False if there is no memory.
  bool set(std::uint32_t id, Place place) {
    std::atomic<Cell*>& page = pages_[id >> kPageBits];
    if (page.load(std::memory_order_relaxed) == nullptr) {
      // Pages of zeros that nobody touched take no memory.
      auto* cells = static_cast<Cell*>(std::calloc(kInPage + 1, sizeof(Cell)));
      if (cells == nullptr) return false;
      page.store(cells, std::memory_order_release);
    }
    page.load(std::memory_order_relaxed)[id & kInPage].store(place.word, std::memory_order_release);
    most_ = id > most_ ? id : most_;
    return true;
  }
  std::size_t bytes() const { return sizeof *this + (std::size_t{most_} + 1) * sizeof(Cell); }

 private:
  using Cell = std::atomic<std::uint32_t>;
  static constexpr std::uint32_t kPageBits = 20;
  static constexpr std::uint32_t kInPage = (1U << kPageBits) - 1;

  std::array<std::atomic<Cell*>, 1U << (32 - kPageBits)> pages_{};
  std::uint32_t most_ = 0;
};

}  // namespace kin::index
