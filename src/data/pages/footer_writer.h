// The footer of an output, made from those of the inputs.
#pragma once

#include <deque>

#include "base/result.h"
#include "data/pages/ordered_output.h"
#include "data/pages/output_plan.h"
#include "data/pages/rewrite.h"

namespace kin::data {

// Writes everything after the data of the complete `groups`: Bloom filters, page indexes and
// the footer. It is the first input's footer with other numbers, so that unknown fields are
// kept.
Status write_footer(const RewriteRequest& request, std::deque<OutputGroup>& groups,
                    OrderedOutput& output);

}  // namespace kin::data
