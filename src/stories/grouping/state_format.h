// Encodes and decodes the state of a grouper (docs/formats.md, "The newsroom").
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "stories/grouper.h"

namespace kin::stories {

inline constexpr std::uint32_t kStateVersion = 4;

// Thread-safe.
std::string encode_state(const GrouperState& state);

// kDataLoss if the bytes are damaged or have another version. A forged state may still be
// inconsistent; Grouper::restore() checks that. Thread-safe.
Result<GrouperState> decode_state(std::string_view bytes);

}  // namespace kin::stories
