#include "store/sorted_slots.h"

#include <sys/mman.h>

#include <new>

namespace kin::store {

std::uint64_t* resize_slots(std::uint64_t* slots, std::size_t old_count, std::size_t new_count) {
  const std::size_t old_bytes = old_count * sizeof(std::uint64_t);
  const std::size_t new_bytes = new_count * sizeof(std::uint64_t);
  // Covers null with 0 and 0, too.
  if (old_bytes == new_bytes) return slots;
  if (new_count == 0) {
    ::munmap(slots, old_bytes);
    return nullptr;
  }
  // mremap() moves page tables and copies no bytes.
  void* const memory = old_count == 0 ? ::mmap(nullptr, new_bytes, PROT_READ | PROT_WRITE,
                                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                                      : ::mremap(slots, old_bytes, new_bytes, MREMAP_MAYMOVE);
  if (memory == MAP_FAILED) throw std::bad_alloc();  // as operator new would
  // Large pages avoid most of the address look-ups that random probes cost. It is a hint, so a
  // refusal does not matter.
  constexpr std::size_t kLarge = std::size_t{2} << 20;
  if (new_bytes >= kLarge) (void)::madvise(memory, new_bytes, MADV_HUGEPAGE);
  return static_cast<std::uint64_t*>(memory);
}

}  // namespace kin::store
