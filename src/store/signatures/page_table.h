// The table of a signature store: one entry for every page of 64 records.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace kin::store {

inline constexpr std::uint32_t kNoSlot = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::uint32_t kNoFrame = std::numeric_limits<std::uint32_t>::max();

// A page may be hot (in a frame), cold (in a slot of the file) or both, with the frame the newer.
struct PageEntry {
  std::uint64_t present = 0;   // bit i: record page × 64 + i has a signature
  std::uint64_t checksum = 0;  // of what the slot holds
  std::uint32_t slot = kNoSlot;
  std::uint32_t frame = kNoFrame;
};

// Page number → entry, in chunks: it grows without copying, entries stay where they are, and a
// lone high id costs one chunk. 24 bytes a page. Thread-compatible.
class PageTable {
 public:
  // Null if the table has no chunk for that page.
  const PageEntry* find(std::uint32_t page) const {
    const std::size_t chunk = page / kChunk;
    if (chunk >= chunks_.size() || !chunks_[chunk]) return nullptr;
    return &(*chunks_[chunk])[page % kChunk];
  }
  PageEntry* find(std::uint32_t page) {
    return const_cast<PageEntry*>(std::as_const(*this).find(page));
  }

  PageEntry& make(std::uint32_t page) {
    const std::size_t chunk = page / kChunk;
    if (chunk >= chunks_.size()) chunks_.resize(chunk + 1);
    if (!chunks_[chunk]) chunks_[chunk] = std::make_unique<Chunk>();
    return (*chunks_[chunk])[page % kChunk];
  }

  // visit(page, entry) for every page that holds a signature, ascending.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (std::size_t chunk = 0; chunk < chunks_.size(); ++chunk) {
      for (std::size_t i = 0; chunks_[chunk] && i < kChunk; ++i) {
        const PageEntry& entry = (*chunks_[chunk])[i];
        if (entry.present != 0) visit(static_cast<std::uint32_t>(chunk * kChunk + i), entry);
      }
    }
  }

  // All pages lie below this number.
  std::uint32_t end_page() const { return static_cast<std::uint32_t>(chunks_.size() * kChunk); }

  void clear() { chunks_.clear(); }

  std::size_t bytes() const {
    std::size_t total = chunks_.capacity() * sizeof(chunks_[0]);
    for (const auto& chunk : chunks_) total += chunk ? sizeof(Chunk) : 0;
    return total;
  }

 private:
  static constexpr std::size_t kChunk = 1024;
  using Chunk = std::array<PageEntry, kChunk>;
  std::vector<std::unique_ptr<Chunk>> chunks_;
};

}  // namespace kin::store
