// How a run shares out its memory.
#pragma once

#include <cstdint>

namespace kin::dedup {

// Shares of --max-memory. What a stage holds together stays below the whole: the scan holds its
// reader, spills and signatures; later stages what the scan left, and their own working memory.
struct Budget {
  explicit Budget(std::uint64_t total)
      : reader(total / 4),
        spills(total * 3 / 10),
        signatures(total * 3 / 20),
        stage(total / 6),
        writer(total * 6 / 10) {}
  std::uint64_t reader;
  std::uint64_t spills;
  std::uint64_t signatures;
  std::uint64_t stage;
  std::uint64_t writer;
};

}  // namespace kin::dedup
