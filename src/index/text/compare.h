// Compares two text indexes.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "index/text_index.h"

namespace kin::index {

// Calls `fault` for every document that is missing in one of them or differs. Both have the same
// options. Works on a copy of `is`. Thread-safe.
Status compare_texts(const TextOptions& options, const TextCheckpoint& is, TextIndex should,
                     const std::function<void(std::string)>& fault);

}  // namespace kin::index
