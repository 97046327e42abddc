// Vectors for random access, on large pages where the system has them. See huge_array.h.
#pragma once

#include <cstddef>
#include <vector>

#include "base/huge_array.h"

namespace kin {

template <typename T>
struct HugeAllocator {
  using value_type = T;

  HugeAllocator() = default;
  template <typename Other>
  HugeAllocator(const HugeAllocator<Other>&) {}

  T* allocate(std::size_t count) {
    return static_cast<T*>(huge_detail::allocate(count * sizeof(T)));
  }
  void deallocate(T* values, std::size_t count) {
    huge_detail::release(values, count * sizeof(T));
  }
  friend bool operator==(const HugeAllocator&, const HugeAllocator&) { return true; }
};

// Aligned to a cache line or better.
template <typename T>
using HugeVector = std::vector<T, HugeAllocator<T>>;

}  // namespace kin
