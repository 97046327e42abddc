// The JSON API of moves of partitions, for the operator of a router (docs/api.md).
#pragma once

#include "server/http/routes.h"
#include "server/routed/moving.h"

namespace kin::server {

// `moving` must outlive the table. Tenants are refused: nodes are not theirs.
void add_moves_api(RouteTable& routes, Moving& moving);

}  // namespace kin::server
