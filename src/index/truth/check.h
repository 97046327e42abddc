// Does the truth agree with itself?
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "index/truth/view.h"

namespace kin::index {

// Calls `fault` with everything that does not: edges that are known from one end only, documents
// without what they stand for and the other way round, summaries that are referred to more or less
// often than they say, members, counters. An error only for what cannot be read at all.
// Thread-safe.
Status check_truth(const TruthView& view, const std::function<void(std::string)>& fault);

}  // namespace kin::index
