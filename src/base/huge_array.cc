#include "base/huge_array.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "base/check.h"

namespace kin::huge_detail {
namespace {

// The size of a large page on x86-64 and most ARM systems.
constexpr std::size_t kHugePage = std::size_t{2} << 20;

// Large arrays are mapped and unmapped directly: an allocator would keep freed ones for later, and
// they would count as memory of this process.
bool is_large(std::size_t bytes) {
  return bytes >= kHugePage / 4;
}

// Room for a whole number of large pages, wherever the system puts it.
void* map_large(std::size_t bytes) {
  // One huge page more than requested, so that an aligned range fits inside.
  void* memory = ::mmap(nullptr, bytes + kHugePage, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  KIN_CHECK(memory != MAP_FAILED, "there is memory");
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t aligned = (address + kHugePage - 1) / kHugePage * kHugePage;
  // The ends outside the aligned range are unmapped, so that unmapping needs only the size.
  if (aligned > address) ::munmap(memory, aligned - address);
  const std::size_t rest = address + bytes + kHugePage - (aligned + bytes);
  if (rest > 0) ::munmap(reinterpret_cast<void*>(aligned + bytes), rest);
  // Advice only: without large pages everything works, more slowly.
  if (bytes >= kHugePage) ::madvise(reinterpret_cast<void*>(aligned), bytes, MADV_HUGEPAGE);
  return reinterpret_cast<void*>(aligned);
}

std::size_t round_up(std::size_t bytes, std::size_t to) {
  return (bytes + to - 1) / to * to;
}

// Rounds up to whole huge pages if that wastes little: a partial page at the end is slow.
std::size_t whole_pages(std::size_t bytes) {
  constexpr std::size_t kPage = 4096;
  const std::size_t large = round_up(bytes, kHugePage);
  return large - bytes <= bytes / 16 ? large : round_up(bytes, kPage);
}

}  // namespace

void* allocate(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  if (is_large(bytes)) return map_large(whole_pages(bytes));
  constexpr std::size_t kCacheLine = 64;
  void* memory = std::aligned_alloc(kCacheLine, round_up(bytes, kCacheLine));
  KIN_CHECK(memory != nullptr, "there is memory");
  // mmap() gives zeroed memory by itself; aligned_alloc() does not.
  std::memset(memory, 0, bytes);
  return memory;
}

void release(void* memory, std::size_t bytes) {
  if (memory == nullptr) return;
  // The size decides as it did in allocate(), so no flag has to be kept.
  if (is_large(bytes)) {
    ::munmap(memory, whole_pages(bytes));
  } else {
    std::free(memory);
  }
}

}  // namespace kin::huge_detail
