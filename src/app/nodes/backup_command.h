// `kindred shards backup` and `kindred shards restore`.
#pragma once

#include <vector>

#include "app/command.h"
#include "app/options.h"

namespace kin::app {

// Adds the two verbs to `shards`.
std::vector<Command> add_backup_verbs(Verb shards);

}  // namespace kin::app
