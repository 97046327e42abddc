// An Index of docs/api.md.
#pragma once

#include <string_view>

#include "base/json_writer.h"
#include "search/library.h"

namespace kin::search {

// A field with a list of documents that repeat others.
void write_repeated(JsonWriter& json, std::string_view name,
                    const std::vector<RepeatedDocument>& documents);

void write_info(JsonWriter& json, std::string_view name, const IndexInfo& info);
// The same, or what the problem is.
void write_listed(JsonWriter& json, const ListedIndex& index);

}  // namespace kin::search
