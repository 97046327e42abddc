// An Index of docs/api.md.
#pragma once

#include <string_view>

#include "base/json_writer.h"
#include "search/search_index.h"

namespace kin::search {

void write_info(JsonWriter& json, std::string_view name, const IndexInfo& info);

}  // namespace kin::search
