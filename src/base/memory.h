// Amounts of memory: parsing, formatting, and the use of this process.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kin {

// "512MiB", "2GiB", "1.5GB", "300000": a number and B, KB, MB, GB, TB (powers of ten) or KiB, MiB,
// GiB, TiB (powers of two), in any case. A bare K, M, G or T means the power of two.
Result<std::uint64_t> parse_bytes(std::string_view text);

// "1.50 GiB", for people.
std::string format_bytes(std::uint64_t bytes);

// Resident memory of this process now, and the most it ever was, in bytes; 0 where the system
// does not tell.
std::uint64_t resident_bytes();
std::uint64_t peak_resident_bytes();

// Memory that this process has allocated and not freed, in bytes. The rest of what is resident is
// the program, stacks, and freed memory that the allocator keeps.
std::uint64_t allocated_bytes();

// Tells the allocator to return large freed pieces to the system and to keep few pools, so that
// freed memory is no longer resident. For a program whose memory is limited; call it before threads
// start.
void return_freed_memory();

}  // namespace kin
