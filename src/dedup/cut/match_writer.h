// Writes matches: the first occurrence of a text, and the occurrences that repeat it.
#pragma once

#include <cstdint>

#include "base/ids.h"
#include "base/result.h"
#include "dedup/cut/matches.h"
#include "dedup/cut_options.h"
#include "dedup/spill/spill.h"

namespace kin::dedup {

inline constexpr WindowPlace kNowhere{kNoRecord, 0};

// The first two places of a text, in whatever order they are met.
struct Occurrences {
  void add(const WindowPlace& at) {
    if (at < first) {
      second = first;
      first = at;
    } else if (at < second) {
      second = at;
    }
  }
  WindowPlace first = kNowhere;
  WindowPlace second = kNowhere;
};

// One thread only; several may write to one spill.
class MatchWriter {
 public:
  MatchWriter(const CutOptions& cut, std::uint64_t rows, Spill& matches)
      : keep_first_(cut.keep_first), rows_(rows), writer_(matches) {}

  // Adds `windows` windows in a row, from `at` on, which are repeated or repeat others.
  void add(const WindowPlace& at, const Occurrences& places, std::uint32_t windows) {
    const bool first = at == places.first;
    append(at, first ? kNowhere : places.first, windows);
    if (keep_first_) return;
    if (first) append(at, places.second, windows);
    if (at == places.second) append(at, kNowhere, windows);
  }

  Status finish() { return writer_.flush(); }

 private:
  void append(const WindowPlace& at, const WindowPlace& of, std::uint32_t windows) {
    writer_.append(row_number(at.record) * Spill::kBins / rows_, MatchRecord{at, of, windows});
  }

  bool keep_first_;
  std::uint64_t rows_;
  Spill::Writer writer_;
};

}  // namespace kin::dedup
