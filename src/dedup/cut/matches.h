// Finds equal windows: the first occurrence, and the occurrences that repeat it.
#pragma once

#include <cstdint>
#include <memory>

#include "base/hash.h"
#include "base/ids.h"
#include "base/result.h"
#include "dedup/cut/cut_input.h"
#include "dedup/cut/window_hash.h"
#include "dedup/spill/spill.h"

namespace kin::dedup {

// A window, by its first unit.
#pragma pack(push, 1)
struct WindowPlace {
  RecordId record;
  std::uint32_t unit;
  friend auto operator<=>(const WindowPlace&, const WindowPlace&) = default;
};
// A window with the hash of its text.
struct WindowRecord {
  WindowKey key() const { return {hash, extra}; }
  std::uint64_t hash;
  std::uint32_t extra;
  WindowPlace at;
};
// Windows in a row that match others in a row; or, with of.record == kNoRecord, windows that others
// are compared with.
struct MatchRecord {
  WindowPlace at;
  WindowPlace of;
  std::uint32_t windows;
};
#pragma pack(pop)
inline std::uint64_t key_bits(const WindowRecord& window) {
  return window.hash;
}
static_assert(sizeof(WindowRecord) == 20 && sizeof(MatchRecord) == 20);

// Counts from reading the windows of a corpus. For lines and paragraphs this is the first pass.
struct WindowCounts {
  std::uint64_t rows = 0;
  std::uint64_t heaviest_text = 0;  // its weight
  std::uint64_t text_bytes = 0;
  std::uint64_t without_text = 0;
};

struct Contested;

// Adds every line or paragraph that is long enough to `windows`; or, with `contested`, the windows
// that it names.
Result<WindowCounts> spill_windows(const CutInput& input, const Contested* contested,
                                   Spill& windows);

// Adds to `matches` (MatchRecord, by bins of `rows` rows) every window whose hash occurs often
// enough. The others are compared with the first of them. If none is to stay, the first is compared
// with the second.
Status find_matches(const CutInput& input, const Spill& windows, std::uint64_t rows,
                    Spill& matches);

}  // namespace kin::dedup
