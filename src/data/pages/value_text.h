// Values of columns as text, in the form of DuckDB's casts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "data/pages/footer.h"
#include "data/pages/thrift_compact.h"

namespace kin::data {

// How the stored values of a column become text.
enum class TextForm : std::uint8_t {
  kText,    // the bytes are the text
  kBinary,  // text_of_bytes()
  kSigned,
  kUnsigned,
  kBoolean,
  kDouble,
  kDate,
  kMillis,
  kMicros,
  kNanos,
  kMillisUtc,
  kMicrosUtc,
};

// Nothing for types that DuckDB has to convert. `element` is the leaf's part of the schema.
std::optional<TextForm> text_form(const Leaf& leaf, const ThriftValue& element);

// Appends the text of a value from ValueReader. Not for kText and kBinary.
void append_text(TextForm form, std::string_view value, std::string& out);

// The text itself if `bytes` are UTF-8; else "bytes:" and the bytes with escapes. Text that begins
// with that word is shown with escapes too, so that no two values give the same text.
std::string text_of_bytes(std::string_view bytes);
// True if text_of_bytes() changes nothing.
bool is_plain_text(std::string_view bytes);
bool is_utf8(std::string_view bytes);

}  // namespace kin::data
