#include "data/text/value_arena.h"

#include <algorithm>

namespace kin::data {

char* ValueArena::room(std::size_t bytes) {
  constexpr std::size_t kLeast = 256 << 10;
  if (chunks_.empty() || chunks_.back().size - used_ < bytes) {
    const std::size_t size = std::max(bytes, kLeast);
    chunks_.push_back({std::make_unique_for_overwrite<char[]>(size), size});
    used_ = 0;
  }
  return chunks_.back().bytes.get() + used_;
}

void ValueArena::clear() {
  // Memory for one long record is not kept for the records after it.
  constexpr std::size_t kMostKept = 4 << 20;
  std::size_t total = 0;
  for (const Chunk& chunk : chunks_) total += chunk.size;
  if (total > kMostKept) chunks_.clear();
  // One chunk as large as all of them: the next batch will probably need as much.
  if (chunks_.size() > 1) {
    chunks_.clear();
    chunks_.push_back({std::make_unique_for_overwrite<char[]>(total), total});
  }
  used_ = 0;
}

}  // namespace kin::data
