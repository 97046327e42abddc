// Names a record across runs and machines.
#pragma once

#include <optional>
#include <string_view>

#include "base/doc_id.h"

namespace kin::dedup {

// The DocId of the record with the value `id` in its id column and `source` in its source column:
// that of doc_id_of(), with an empty source where there is none. Nothing for a record without an
// id, which only its row names. Thread-safe.
std::optional<DocId> record_doc_id(std::optional<std::string_view> source,
                                   std::optional<std::string_view> id);

}  // namespace kin::dedup
