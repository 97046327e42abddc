// The text by which a record is compared.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "data/batch.h"

namespace kin::dedup {

// The fields of a record joined by line breaks, without those that are null; nothing if all are
// null. `scratch` holds the text where joining was needed. Thread-safe.
std::optional<std::string_view> text_of(const data::Batch& batch, std::size_t record,
                                        std::size_t fields, std::string& scratch);

}  // namespace kin::dedup
