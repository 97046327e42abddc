// The table of a signature store: one entry for every page of 64 records.
#pragma once

#include <cstdint>
#include <limits>

#include "store/signatures/chunked_array.h"

namespace kin::store {

inline constexpr std::uint32_t kNoSlot = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::uint32_t kNoFrame = std::numeric_limits<std::uint32_t>::max();

// A page may be hot (in a frame), cold (in a slot of the file) or both; then the frame is newer.
struct PageEntry {
  std::uint64_t present = 0;   // bit i: record page × 64 + i has a signature
  std::uint64_t checksum = 0;  // of what the slot holds
  std::uint32_t slot = kNoSlot;
  std::uint32_t frame = kNoFrame;
};

// By page number; 24 bytes a page.
using PageTable = ChunkedArray<PageEntry>;

}  // namespace kin::store
