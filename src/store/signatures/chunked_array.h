// An array that grows with the highest index in use.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace kin::store {

// Values in chunks of 1,024: growing copies nothing, values stay where they are, and a lone high
// index costs one chunk. Thread-compatible.
template <typename T>
class ChunkedArray {
 public:
  // Null if the array has no chunk for that index.
  const T* find(std::size_t index) const {
    const std::size_t chunk = index / kChunk;
    if (chunk >= chunks_.size() || !chunks_[chunk]) return nullptr;
    return &(*chunks_[chunk])[index % kChunk];
  }
  T* find(std::size_t index) { return const_cast<T*>(std::as_const(*this).find(index)); }
  // The value at `index`; T{} if it is new.
  T& make(std::size_t index) {
    const std::size_t chunk = index / kChunk;
    if (chunk >= chunks_.size()) chunks_.resize(chunk + 1);
    if (!chunks_[chunk]) chunks_[chunk] = std::make_unique<Chunk>();
    return (*chunks_[chunk])[index % kChunk];
  }
  // Calls visit(index, value) for every value of every existing chunk, ascending.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (std::size_t chunk = 0; chunk < chunks_.size(); ++chunk) {
      for (std::size_t i = 0; chunks_[chunk] && i < kChunk; ++i)
        visit(chunk * kChunk + i, (*chunks_[chunk])[i]);
    }
  }
  // An upper bound of all indexes that were made.
  std::size_t end() const { return chunks_.size() * kChunk; }
  void clear() { chunks_.clear(); }
  std::size_t bytes() const {
    std::size_t total = chunks_.capacity() * sizeof(chunks_[0]);
    for (const auto& chunk : chunks_) total += chunk ? sizeof(Chunk) : 0;
    return total;
  }

 private:
  static constexpr std::size_t kChunk = 1024;
  using Chunk = std::array<T, kChunk>;

  std::vector<std::unique_ptr<Chunk>> chunks_;
};

}  // namespace kin::store
