// The JSON API of indexes: docs/api.md, "Indexes".
#pragma once

#include "search/library.h"
#include "server/http/routes.h"

namespace kin::server {

// The library must outlive the router.
void add_index_api(Router& router, search::Library& library);

}  // namespace kin::server
