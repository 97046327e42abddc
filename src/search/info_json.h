// Writes an index as the Index of docs/api.md.
#pragma once

#include <string_view>

#include "base/json_writer.h"
#include "search/index_folder.h"

namespace kin::search {

// Writes a field with a list of near-duplicates.
void write_repeated(JsonWriter& json, std::string_view name,
                    const std::vector<RepeatedDocument>& documents);

// The fields of an Index, into an object that has been begun.
void write_info_fields(JsonWriter& json, std::string_view name, const IndexInfo& info);
void write_info(JsonWriter& json, std::string_view name, const IndexInfo& info);
// Writes the name and the info or the problem.
void write_listed(JsonWriter& json, const ListedIndex& index);

}  // namespace kin::search
