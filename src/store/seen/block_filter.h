// A split-block Bloom filter. A look-up reads one cache line.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "base/huge_array.h"
#include "store/seen/id.h"

namespace kin::store {

// Sets eight bits of each id, all in one block of 256. At 9 bits per id 2 % of absent ids pass, at
// 16 bits 0.1 %. One thread fills it; look-ups are thread-safe after that.
class BlockFilter {
 public:
  struct alignas(32) Block {
    std::uint64_t words[4];
  };

  BlockFilter(std::uint64_t ids, double bits_per_id);
  explicit BlockFilter(HugeArray<Block> blocks) : blocks_(std::move(blocks)) {}

  void add(SeenId id);
  bool may_contain(SeenId id) const { return passes(blocks_[block_of(id, blocks_.size())], id); }
  // Prefetches the block of `id` for a look-up soon after.
  void prefetch(SeenId id) const { __builtin_prefetch(&blocks_[block_of(id, blocks_.size())]); }

  std::span<const Block> blocks() const { return blocks_.values(); }
  std::uint64_t bytes() const { return blocks_.size() * sizeof(Block); }

  // The two halves of a look-up, for blocks stored elsewhere: the index of the block among `count`,
  // and whether the id passes it.
  static std::uint64_t block_of(SeenId id, std::uint64_t count);
  static bool passes(const Block& block, SeenId id);

 private:
  HugeArray<Block> blocks_;
};

namespace filter_detail {

// Ids of a file share their leading bits, so the block is chosen by a product's leading bits, which
// depend on all.
inline std::uint64_t spread(SeenId id) {
  return (id.high ^ (id.low * 0xc2b2ae3d27d4eb4fULL)) * 0x9e3779b97f4a7c15ULL;
}

// The two bits of word `i`, one in each half.
inline std::uint64_t bits_of(std::uint64_t choice, int i) {
  const std::uint64_t ten = choice >> (64 - 10 * (i + 1));
  return (std::uint64_t{1} << (ten & 31)) | (std::uint64_t{1} << (32 + ((ten >> 5) & 31)));
}

inline std::uint64_t choice_of(SeenId id) {
  const std::uint64_t h = spread(id);
  return (h ^ (h >> 32)) * 0xd6e8feb86659fd93ULL;
}

}  // namespace filter_detail

inline std::uint64_t BlockFilter::block_of(SeenId id, std::uint64_t count) {
  return ((filter_detail::spread(id) >> 32) * count) >> 32;
}

inline bool BlockFilter::passes(const Block& block, SeenId id) {
  const std::uint64_t choice = filter_detail::choice_of(id);
  std::uint64_t missing = 0;
  for (int i = 0; i < 4; ++i) missing |= filter_detail::bits_of(choice, i) & ~block.words[i];
  return missing == 0;
}

inline void BlockFilter::add(SeenId id) {
  Block& block = blocks_[block_of(id, blocks_.size())];
  const std::uint64_t choice = filter_detail::choice_of(id);
  for (int i = 0; i < 4; ++i) block.words[i] |= filter_detail::bits_of(choice, i);
}

}  // namespace kin::store
