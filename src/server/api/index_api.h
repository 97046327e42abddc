// The JSON API of indexes: docs/api.md, "Indexes".
#pragma once

#include "search/index_folder.h"
#include "server/http/routes.h"

namespace kin::server {

// The library must outlive the router.
void add_index_api(Router& router, search::IndexFolder& library);

}  // namespace kin::server
