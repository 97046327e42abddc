// Checks that the rows of the truth agree with each other.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "index/truth/view.h"

namespace kin::index {

// Calls `fault` for every contradiction: edges known from one end only, document numbers without
// their thing and things without a number, wrong counts of summaries, members or counters. An error
// only if rows cannot be read at all. Thread-safe.
Status check_truth(const TruthView& view, const std::function<void(std::string)>& fault);

}  // namespace kin::index
