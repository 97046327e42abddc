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

// Whether there is nothing but white space in a text. Such a text says nothing about its record, so
// a run compares it with no other.
inline bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n\f\v") == std::string_view::npos;
}

}  // namespace kin::dedup
