#include "base/huge_array.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

#include "base/check.h"

namespace kin::huge_detail {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

// Whole large pages: the last one may be a waste of half a page at most.
bool is_huge(std::size_t bytes) {
  return bytes >= kHugePage * 3 / 2;
}

}  // namespace

void* allocate(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  constexpr std::size_t kCacheLine = 64;
  const std::size_t align = is_huge(bytes) ? kHugePage : kCacheLine;
  void* memory = std::aligned_alloc(align, (bytes + align - 1) / align * align);
  KIN_CHECK(memory != nullptr, "there is memory");
  // Advice only: without large pages everything works, more slowly.
  if (is_huge(bytes)) (void)::madvise(memory, (bytes + align - 1) / align * align, MADV_HUGEPAGE);
  std::memset(memory, 0, bytes);
  return memory;
}

void release(void* memory) {
  std::free(memory);
}

}  // namespace kin::huge_detail
