// Do two text indexes hold the same?
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "index/text_index.h"

namespace kin::index {

// Calls `fault` for every document that one of them lacks or knows differently. Both are of the
// same options; `is` is copied and merged, so it is left as it is. Thread-safe.
Status compare_texts(const TextOptions& options, const TextCheckpoint& is, TextIndex should,
                     const std::function<void(std::string)>& fault);

}  // namespace kin::index
