// The verbs of `kindred shards` that move partitions.
#pragma once

#include <vector>

#include "app/command.h"
#include "app/options.h"

namespace kin::app {

// Adds move, drain, split, balance, migrations and abort to `shards`.
std::vector<Command> add_move_verbs(Verb shards);

}  // namespace kin::app
