// The verbs of kindred-bench about the seen set.
#pragma once

#include "app/command.h"
#include "app/options.h"

namespace kin::bench {

// Each adds its verb to `bench`.
app::Command add_seen(app::Verb bench);

}  // namespace kin::bench
