// The verbs of kindred-bench about stories.
#pragma once

#include "app/command.h"
#include "app/options.h"

namespace kin::bench {

// Each adds its verb to `bench`.
app::Command add_stories(app::Verb bench);
app::Command add_timeline(app::Verb bench);

}  // namespace kin::bench
