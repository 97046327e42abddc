// The JSON API of indexes: docs/api.md, "Indexes".
#pragma once

#include "search/index_folder.h"
#include "server/http/routes.h"

namespace kin::server {

// Adds the routes. The folder must outlive the table.
void add_index_api(RouteTable& routes, search::IndexFolder& library);

}  // namespace kin::server
