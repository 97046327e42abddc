// Divides the memory that DuckDB may use.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "data/duckdb/session.h"
#include "data/parquet/file.h"

namespace kin::data {

inline constexpr std::uint64_t kDuckDbBytes = 20 << 20;  // the library itself
// Freed memory that its allocator always keeps.
inline constexpr std::uint64_t kDuckDbLeastHeldBack = 8 << 20;

// The memory of one thread of DuckDB that reads such a file.
inline std::uint64_t duckdb_thread_need(std::uint64_t thread_bytes) {
  constexpr std::uint64_t kLeast = 40 << 20;
  return std::max(kLeast, thread_bytes + thread_bytes / 5);
}

// As many of the `wanted` threads as fit into `memory`, and the freed memory that DuckDB's
// allocator may keep besides. One thread always gets what it needs, even if that exceeds the
// budget: a page of a Parquet file has to be unpacked as a whole.
inline DuckDbLimits share_memory(std::span<const ParquetFile> files, int wanted,
                                 std::uint64_t memory) {
  constexpr std::uint64_t kMostHeldBack = 256 << 20;
  std::uint64_t need = duckdb_thread_need(0);
  for (const ParquetFile& file : files)
    need = std::max(need, duckdb_thread_need(file.thread_bytes));
  const std::uint64_t room = std::max(memory, kDuckDbBytes) - kDuckDbBytes;
  const auto fitting = std::max<std::uint64_t>(room / need, 1);
  const auto threads =
      std::min<std::uint64_t>(static_cast<std::uint64_t>(std::max(wanted, 1)), fitting);
  const std::uint64_t spare = room - std::min(room, threads * need);
  // DuckDB counts more than is resident, and an error would be worse than a few megabytes more.
  return {.threads = static_cast<int>(threads),
          .memory_bytes = std::max(room, threads * 8 * need),
          .held_back_bytes = std::clamp(spare, kDuckDbLeastHeldBack, kMostHeldBack)};
}

}  // namespace kin::data
