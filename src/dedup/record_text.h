// The compared text of a record.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "data/batch.h"

namespace kin::dedup {

// The fields of a record joined by line breaks, without nulls; nothing if all are null. `scratch`
// holds the text if it had to be joined. Thread-safe.
std::optional<std::string_view> text_of(const data::Batch& batch, std::size_t record,
                                        std::size_t fields, std::string& scratch);

// Whether a text is only white space. Such a text says nothing about its record, so a run does not
// compare it.
inline bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n\f\v") == std::string_view::npos;
}

}  // namespace kin::dedup
