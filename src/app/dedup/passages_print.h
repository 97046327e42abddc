// Prints how two texts differ.
#pragma once

#include <string>
#include <vector>

#include "dedup/explain.h"

namespace kin::app {

// The passages as one text: what only A has as [-text-], what only B has as {+text+}, with colours
// on a terminal. Long passages that both have are shortened, unless the text shall be `full`.
std::string format_passages(const std::vector<dedup::Passage>& passages, bool full);

// The kind of a passage in JSON.
const char* kind_name(dedup::Passage::Kind kind);

}  // namespace kin::app
