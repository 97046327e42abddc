// How the memory that DuckDB may use is divided.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "data/duckdb/session.h"
#include "data/parquet/file.h"

namespace kin::data {

// As many of the `wanted` threads as `memory` has room for, and what DuckDB's allocator may hold
// back besides. One thread always gets what it needs, even if that is more than there is: a page
// of a Parquet file has to be unpacked as a whole.
inline DuckDbLimits share_memory(std::span<const ParquetFile> files, int wanted,
                                 std::uint64_t memory) {
  constexpr std::uint64_t kBase = 50 << 20;  // the library itself
  constexpr std::uint64_t kLeastHeldBack = 8 << 20;
  constexpr std::uint64_t kMostHeldBack = 256 << 20;
  std::uint64_t need = 64 << 20;
  for (const ParquetFile& file : files)
    need = std::max(need, file.thread_bytes + file.thread_bytes / 5);
  const std::uint64_t room = std::max(memory, kBase) - kBase;
  const auto fitting = std::max<std::uint64_t>(room / need, 1);
  const auto threads =
      std::min<std::uint64_t>(static_cast<std::uint64_t>(std::max(wanted, 1)), fitting);
  const std::uint64_t spare = room - std::min(room, threads * need);
  // DuckDB counts more than is resident, and an error is worse than the few megabytes it saves.
  return {.threads = static_cast<int>(threads),
          .memory_bytes = std::max(room, threads * 3 * need),
          .held_back_bytes = std::clamp(spare, kLeastHeldBack, kMostHeldBack)};
}

}  // namespace kin::data
