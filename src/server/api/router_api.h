// The JSON API of indexes on nodes: the part of docs/api.md, "Indexes", that a router serves, and
// the state of the shards.
#pragma once

#include "server/http/routes.h"
#include "server/routed/routed_indexes.h"
#include "server/tenants/tenants.h"

namespace kin::server {

// Adds the routes. Indexes and tenants must outlive the table. A request with a tenant reaches that
// tenant's indexes and no others; null `tenants`: there are none.
void add_router_api(RouteTable& routes, RoutedIndexes& indexes, Tenants* tenants = nullptr);

}  // namespace kin::server
