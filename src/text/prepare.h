// The first pass of presets that change a text before another preset normalises it. Thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "text/normalize.h"

namespace kin::text {

// Replaces `out` by the text that base_of(preset) is to normalise, which is `utf8` itself for
// presets that are their own. Valid UTF-8 gives valid UTF-8. `utf8` must not be a view of `out`.
void prepare(std::string_view utf8, Normalization preset, std::string& out);

}  // namespace kin::text
