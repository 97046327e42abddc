// An Index of docs/api.md.
#pragma once

#include <string_view>

#include "base/json_writer.h"
#include "search/search_index.h"

namespace kin::search {

// A field with a list of documents that repeat others.
void write_repeated(JsonWriter& json, std::string_view name,
                    const std::vector<RepeatedDocument>& documents);

void write_info(JsonWriter& json, std::string_view name, const IndexInfo& info);

}  // namespace kin::search
