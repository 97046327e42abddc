#include "index/vector/pending.h"

#include <algorithm>

namespace kin::index {

// Frees the chunks in a loop: recursion over a long log would overflow the stack. Each chunk is
// moved out and released, because a use_count() of 1 does not order the accesses of other threads.
PendingChunk::~PendingChunk() {
  thread_local std::shared_ptr<PendingChunk>* outer_next = nullptr;
  if (outer_next != nullptr) {
    *outer_next = std::move(next_);
    return;
  }
  std::shared_ptr<PendingChunk> next = std::move(next_);
  outer_next = &next;
  while (next != nullptr) std::shared_ptr<PendingChunk>(std::move(next)).reset();
  outer_next = nullptr;
}

void PendingChunk::append(std::uint32_t id, std::span<const float> rotated) {
  const std::uint32_t row = size_.load(std::memory_order_relaxed);  // only the writer changes it
  ids_[row] = id;
  std::copy(rotated.begin(), rotated.end(),
            values_.begin() + static_cast<std::ptrdiff_t>(row * stride_));
  // Readers that see the new size see the row.
  size_.store(row + 1, std::memory_order_release);
}

void PendingChunk::set_next(std::shared_ptr<PendingChunk> next) {
  // The pointer is not atomic: readers look at it only after the flag is set.
  next_ = std::move(next);
  has_next_.store(true, std::memory_order_release);
}

}  // namespace kin::index
