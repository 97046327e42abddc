// The state of a grouper as bytes (docs/formats.md, "Story grouping").
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "stories/grouper.h"

namespace kin::stories {

inline constexpr std::uint32_t kStateVersion = 1;

// Thread-safe, like decode_state().
std::string encode_state(const GrouperState& state);

// kDataLoss if the bytes are damaged or of another version. What comes back may still contradict
// itself if somebody made it up; Grouper::restore() looks.
Result<GrouperState> decode_state(std::string_view bytes);

}  // namespace kin::stories
