// The location of each id's vector: a table of cell and slot by id.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace kin::index {

// The state of an id in the index.
enum class VectorState : std::uint8_t {
  kAbsent,          // never inserted, or removed and reclaimed
  kPending,         // found by searches; waits for its cell
  kIndexed,         // in a cell
  kPendingDeleted,  // removed while it waited; its row is not reclaimed yet
  kDeleted,         // removed from its cell; its slot is not reclaimed yet
};

// A cell and a slot in it, or a state without them, in 32 bits.
struct CellSlot {
  static constexpr std::uint32_t kSlotBits = 12;
  static constexpr std::uint32_t kMostCells = (1U << (32 - kSlotBits)) - 1;

  std::uint32_t word = 0;

  static CellSlot at(std::uint32_t cell, std::uint32_t slot) {
    return {(cell + 1) << kSlotBits | slot};
  }
  static CellSlot without(VectorState state) { return {static_cast<std::uint32_t>(state)}; }
  bool is_indexed() const { return word >= 1U << kSlotBits; }
  VectorState state() const {
    return is_indexed() ? VectorState::kIndexed : static_cast<VectorState>(word);
  }
  std::uint32_t cell() const { return (word >> kSlotBits) - 1; }
  std::uint32_t slot() const { return word & ((1U << kSlotBits) - 1); }
};

// Thread-safe for one writer and any number of readers.
class SlotTable {
 public:
  CellSlot get(std::uint32_t id) const {
    const Book* book = books_[id >> kBookBits].load(std::memory_order_acquire);
    if (book == nullptr) return {};
    const Page* page = (*book)[id >> kPageBits & kInBook].load(std::memory_order_acquire);
    if (page == nullptr) return {};
    return {(*page)[id & kInPage].load(std::memory_order_acquire)};
  }
  void set(std::uint32_t id, CellSlot slot) {
    Book& book = made(books_[id >> kBookBits], owned_books_);
    Page& page = made(book[id >> kPageBits & kInBook], owned_pages_);
    page[id & kInPage].store(slot.word, std::memory_order_release);
  }
  std::size_t bytes() const {
    return sizeof *this + owned_books_.size() * sizeof(Book) + owned_pages_.size() * sizeof(Page);
  }

 private:
  static constexpr std::uint32_t kPageBits = 12;
  static constexpr std::uint32_t kBookBits = 22;
  static constexpr std::uint32_t kInPage = (1U << kPageBits) - 1;
  static constexpr std::uint32_t kInBook = (1U << (kBookBits - kPageBits)) - 1;
  using Page = std::array<std::atomic<std::uint32_t>, kInPage + 1>;
  using Book = std::array<std::atomic<Page*>, kInBook + 1>;

  template <typename T>
  static T& made(std::atomic<T*>& pointer, std::vector<std::unique_ptr<T>>& owned) {
    if (pointer.load(std::memory_order_relaxed) == nullptr) {
      owned.push_back(std::make_unique<T>());
      pointer.store(owned.back().get(), std::memory_order_release);
    }
    return *pointer.load(std::memory_order_relaxed);
  }

  std::array<std::atomic<Book*>, 1U << (32 - kBookBits)> books_{};
  std::vector<std::unique_ptr<Book>> owned_books_;
  std::vector<std::unique_ptr<Page>> owned_pages_;
};

}  // namespace kin::index
