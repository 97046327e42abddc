// The verbs of kindred-bench about search.
#pragma once

#include "app/command.h"
#include "app/options.h"

namespace kin::bench {

// Each adds its verb to `bench`.
app::Command add_text(app::Verb bench);
app::Command add_vectors(app::Verb bench);
app::Command add_shard(app::Verb bench);

}  // namespace kin::bench
