// A set of records that grows with the highest of them.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/ids.h"

namespace kin::store {

// One bit a record, in chunks of 65,536: growing copies nothing, and a lone high id costs one
// chunk. Thread-compatible.
class ChunkedBits {
 public:
  bool contains(RecordId id) const {
    const std::size_t chunk = row_number(id) / kChunkBits;
    return chunk < chunks_.size() && chunks_[chunk] &&
           (((*chunks_[chunk])[word(id)] >> (row_number(id) % 64)) & 1) != 0;
  }

  // True if it was not there.
  bool insert(RecordId id) {
    const std::size_t chunk = row_number(id) / kChunkBits;
    if (chunk >= chunks_.size()) chunks_.resize(chunk + 1);
    if (!chunks_[chunk]) chunks_[chunk] = std::make_unique<Chunk>();
    if (contains(id)) return false;
    (*chunks_[chunk])[word(id)] |= std::uint64_t{1} << (row_number(id) % 64);
    ++count_;
    return true;
  }

  // True if it was there.
  bool erase(RecordId id) {
    if (!contains(id)) return false;
    (*chunks_[row_number(id) / kChunkBits])[word(id)] &=
        ~(std::uint64_t{1} << (row_number(id) % 64));
    --count_;
    return true;
  }

  std::size_t count() const { return count_; }
  void clear() {
    chunks_.clear();
    count_ = 0;
  }
  std::size_t bytes() const {
    std::size_t total = chunks_.capacity() * sizeof(chunks_[0]);
    for (const auto& chunk : chunks_) total += chunk ? sizeof(Chunk) : 0;
    return total;
  }

 private:
  static constexpr std::size_t kChunkBits = 65'536;
  using Chunk = std::array<std::uint64_t, kChunkBits / 64>;

  static std::size_t word(RecordId id) { return row_number(id) % kChunkBits / 64; }

  std::vector<std::unique_ptr<Chunk>> chunks_;
  std::size_t count_ = 0;
};

}  // namespace kin::store
