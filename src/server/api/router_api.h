// The JSON API of indexes on nodes: the part of docs/api.md, "Indexes", that a router serves, and
// the state of the shards.
#pragma once

#include "server/http/routes.h"
#include "server/routed/routed_indexes.h"

namespace kin::server {

// Adds the routes. The indexes must outlive the table.
void add_router_api(RouteTable& routes, RoutedIndexes& indexes);

}  // namespace kin::server
