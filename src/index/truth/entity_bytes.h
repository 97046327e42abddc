// Numbers and texts in rows of the truth: lengths that take as many bytes as they need.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace kin::index {

// Seven bits a byte, the lowest first; all but the last byte have the top bit.
inline void append_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

inline void append_text(std::string& out, std::string_view text) {
  append_varint(out, text.size());
  out.append(text);
}

// As ByteReader: after a read that fails every further one gives nothing. One thread only.
class RowReader {
 public:
  explicit RowReader(std::string_view bytes) : reader_(bytes) {}

  template <typename T>
  T read() {
    return reader_.read<T>();
  }
  std::string_view bytes(std::size_t count) { return reader_.read_bytes(count); }

  // Longer than need be, or more than 64 bits, fails: a value has one spelling.
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = reader_.read<std::uint8_t>();
      const std::uint64_t bits = byte & 0x7F;
      if (shift == 63 && bits > 1) break;
      value |= bits << shift;
      if (byte < 0x80) {
        if (byte == 0 && shift > 0) break;
        return value;
      }
    }
    ok_ = false;
    return 0;
  }
  // Fails if more than `most`.
  std::uint64_t varint_up_to(std::uint64_t most) {
    const std::uint64_t value = varint();
    if (value <= most) return value;
    ok_ = false;
    return 0;
  }
  std::uint32_t varint32() { return static_cast<std::uint32_t>(varint_up_to(0xFFFFFFFFU)); }
  std::string_view text() {
    return bytes(static_cast<std::size_t>(varint_up_to(reader_.rest().size())));
  }
  // A count of things of at least one byte each, so that no more is reserved than can follow.
  std::size_t count() { return static_cast<std::size_t>(varint_up_to(reader_.rest().size())); }

  bool ok() const { return ok_ && reader_.ok(); }
  bool done() const { return ok() && reader_.rest().empty(); }
  std::string_view rest() const { return reader_.rest(); }

 private:
  ByteReader reader_;
  bool ok_ = true;
};

}  // namespace kin::index
