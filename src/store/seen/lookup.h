// Look-ups in one state of the seen set.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "store/seen/runs.h"
#include "store/seen/table.h"

namespace kin::store {

// The set at one moment. Immutable, except that the writer continues to fill `table`.
struct SeenVersion {
  std::shared_ptr<const SeenTable> table;
  std::shared_ptr<const SeenTable> frozen;  // being written out, if any
  std::vector<RunView> runs;
};

struct SeenLookupCounts {
  std::uint64_t filter_probes = 0;
  std::uint64_t filter_passes = 0;
  std::uint64_t page_reads = 0;
  std::uint64_t hits = 0;
  std::uint64_t filter_page_reads = 0;

  SeenLookupCounts& operator+=(const SeenLookupCounts& other);
};

// Scratch memory and counters of one thread's look-ups.
class SeenLookup {
 public:
  Result<bool> contains(const SeenVersion& version, SeenId id);
  Status contains(const SeenVersion& version, std::span<const SeenId> ids,
                  std::span<std::uint8_t> found);

  const SeenLookupCounts& counts() const { return counts_; }
  // The counters since the last call.
  SeenLookupCounts take_counts();

 private:
  struct Asked {
    std::uint32_t i = 0;
    const PieceView* piece = nullptr;
  };

  Status chunk(const SeenVersion& version, std::span<const SeenId> ids,
               std::span<std::uint8_t> found);
  Status ask_run(const RunView& run, std::span<const SeenId> ids, std::span<std::uint8_t> found);
  bool passes_filter(const PieceView& piece, SeenId id);
  Result<bool> read(const PieceView& piece, SeenId id);

  SeenLookupCounts counts_;
  SeenPageBytes page_;
  std::vector<std::uint32_t> pending_;
  std::vector<Asked> asked_;
};

}  // namespace kin::store
