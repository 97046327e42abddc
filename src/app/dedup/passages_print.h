// Prints how two texts differ.
#pragma once

#include <string>
#include <vector>

#include "dedup/explain.h"

namespace kin::app {

// The passages as one text: text only in A as [-text-], text only in B as {+text+}, with colours on
// a terminal. Long common passages are shortened unless `full`.
std::string format_passages(const std::vector<dedup::Passage>& passages, bool full);

// The kind of a passage in JSON.
const char* kind_name(dedup::Passage::Kind kind);

}  // namespace kin::app
