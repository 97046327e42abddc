// Small numbers in few bytes, for values that live as long as a run.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kin::dedup {

// Seven bits a byte, the lowest first; the top bit says that more follow.
inline void append_varint(std::string& out, std::uint32_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

// Reads the output of append_varint() and append(). After a read past the end every read returns
// zero and ok() is false. One thread only.
class VarintReader {
 public:
  explicit VarintReader(std::string_view bytes) : rest_(bytes) {}

  std::uint32_t read() {
    std::uint32_t value = 0;
    for (int shift = 0; shift < 35 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<std::uint32_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
    ok_ = false;
    return 0;
  }
  std::string_view read_bytes(std::size_t count) {
    if (count > rest_.size()) {
      ok_ = false;
      count = 0;
    }
    const std::string_view bytes = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return bytes;
  }
  std::size_t left() const { return rest_.size(); }
  bool ok() const { return ok_; }
  bool done() const { return rest_.empty(); }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace kin::dedup
