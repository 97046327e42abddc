#include "index/vector_pending.h"

#include <algorithm>

namespace kin::index {

// One after the other: a long log must not be freed by recursion.
PendingChunk::~PendingChunk() {
  std::shared_ptr<PendingChunk> next = std::move(next_);
  while (next != nullptr && next.use_count() == 1) {
    std::shared_ptr<PendingChunk> after = std::move(next->next_);
    next = std::move(after);
  }
}

void PendingChunk::append(std::uint32_t id, std::span<const float> rotated) {
  const std::uint32_t row = size_.load(std::memory_order_relaxed);
  ids_[row] = id;
  std::copy(rotated.begin(), rotated.end(),
            values_.begin() + static_cast<std::ptrdiff_t>(row * stride_));
  size_.store(row + 1, std::memory_order_release);
}

void PendingChunk::set_next(std::shared_ptr<PendingChunk> next) {
  next_ = std::move(next);
  has_next_.store(true, std::memory_order_release);
}

}  // namespace kin::index
