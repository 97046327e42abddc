// Strings with their length in front, for on-disk formats.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace kin {

inline void append_sized(std::string& out, std::string_view text) {
  append_le(out, static_cast<std::uint32_t>(text.size()));
  out += text;
}
// Empty after a read past the end, as other reads of a ByteReader are zero.
inline std::string read_sized(ByteReader& in) {
  const auto size = in.read<std::uint32_t>();
  return std::string(in.read_bytes(size));
}

}  // namespace kin
