// The verbs of kindred-bench about deduplication.
#pragma once

#include "app/command.h"
#include "app/options.h"

namespace kin::bench {

// Each adds its verb to `bench`.
app::Command add_sketch(app::Verb bench);
app::Command add_dedup(app::Verb bench);
app::Command add_speed(app::Verb bench);
app::Command add_memory(app::Verb bench);
app::Command add_fingerprints(app::Verb bench);
app::Command add_contains(app::Verb bench);
app::Command add_corpus(app::Verb bench);
// The peer of `dedup`, in a process of its own: not for users.
app::Command add_copy(app::Verb bench);

}  // namespace kin::bench
