// Numbers of any number of bits, packed from the lowest bit up, as Parquet packs them; and LEB128.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace kin::data {

// The number of `width` bits (at most 64) that begins at bit `at` of `bytes`. Bits past the end are
// zero.
inline std::uint64_t load_bits(std::string_view bytes, std::uint64_t at, int width) {
  if (width == 0) return 0;
  const std::size_t first = at / 8;
  const int shift = static_cast<int>(at % 8);
  std::uint64_t low = 0;
  if (first + 8 <= bytes.size()) {
    std::memcpy(&low, bytes.data() + first, 8);
  } else if (first < bytes.size()) {
    std::memcpy(&low, bytes.data() + first, bytes.size() - first);
  }
  std::uint64_t value = low >> shift;
  if (shift + width > 64 && first + 8 < bytes.size()) {
    value |= static_cast<std::uint64_t>(static_cast<std::uint8_t>(bytes[first + 8]))
             << (64 - shift);
  }
  return width == 64 ? value : value & ((std::uint64_t{1} << width) - 1);
}

// Appends numbers of `width` bits to bytes. One thread only.
class BitPacker {
 public:
  BitPacker(std::string& out, int width) : out_(out), width_(width) {}
  void put(std::uint64_t value) {
    for (int left = width_; left > 0;) {
      const int taken = std::min(left, 8 - used_);
      byte_ |= static_cast<unsigned>(value & ((1U << taken) - 1)) << used_;
      value >>= taken;
      used_ += taken;
      left -= taken;
      if (used_ == 8) flush();
    }
  }
  // Fills up the last byte with zeros.
  void finish() {
    if (used_ > 0) flush();
  }

 private:
  void flush() {
    out_ += static_cast<char>(byte_);
    byte_ = 0;
    used_ = 0;
  }
  std::string& out_;
  int width_;
  unsigned byte_ = 0;
  int used_ = 0;
};

// Takes a LEB128 number off the front of `bytes`. False if there is none.
inline bool take_varint(std::string_view& bytes, std::uint64_t& number) {
  number = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (bytes.empty()) return false;
    const auto byte = static_cast<std::uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    number |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

inline void append_varint(std::string& out, std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) out += static_cast<char>(number | 0x80);
  out += static_cast<char>(number);
}

inline bool take_zigzag(std::string_view& bytes, std::uint64_t& number) {
  std::uint64_t packed = 0;
  if (!take_varint(bytes, packed)) return false;
  number = (packed >> 1) ^ (~(packed & 1) + 1);
  return true;
}

inline void append_zigzag(std::string& out, std::uint64_t number) {
  append_varint(out, number << 1 ^ (~(number >> 63) + 1));
}

}  // namespace kin::data
