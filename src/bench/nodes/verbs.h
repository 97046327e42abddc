// The verbs of kindred-bench about indexes on nodes.
#pragma once

#include "app/command.h"
#include "app/options.h"

namespace kin::bench {

// Each adds its verb to `bench`.
app::Command add_nodes(app::Verb bench);
app::Command add_same(app::Verb bench);
app::Command add_grow(app::Verb bench);

}  // namespace kin::bench
