// The JSON API of indexes: docs/api.md, "Indexes".
#pragma once

#include "search/library.h"
#include "server/http/routes.h"

namespace kin::server {

// Adds the routes. The library must outlive the table.
void add_index_api(RouteTable& routes, search::Library& library);

}  // namespace kin::server
