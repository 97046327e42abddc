// DELTA_BINARY_PACKED: integers as differences, bit-packed in blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kin::data {

// Reads integers from untrusted bytes. Numbers of 32 bits are right in their low half. The bytes
// must outlive it. One thread only.
class DeltaDecoder {
 public:
  // False if the bytes do not begin with a valid header.
  bool open(std::string_view bytes);
  // Numbers that the header promises.
  std::uint64_t count() const { return count_; }
  // Reads the next `count` numbers. False if there are fewer, or if the bytes end before.
  bool read(std::uint64_t* to, std::size_t count);
  // The bytes after the last number. Nothing is decoded, and reading continues where it was.
  bool bytes_behind(std::string_view& rest) const;

 private:
  bool begin_block();
  bool begin_miniblock();

  std::string_view rest_;
  std::uint64_t block_ = 0;      // numbers in a block
  std::uint64_t miniblock_ = 0;  // and in a part of it that has one bit width
  std::uint64_t count_ = 0;
  std::uint64_t read_ = 0;
  std::uint64_t last_ = 0;
  std::uint64_t least_delta_ = 0;
  std::string_view widths_;  // of the miniblocks that come
  std::string_view packed_;  // the current miniblock
  std::uint64_t bit_ = 0;
  int width_ = 0;
  std::uint64_t left_ = 0;  // numbers of the miniblock
};

// Writes integers. One thread only.
class DeltaEncoder {
 public:
  // `bits` is 32 or 64: differences wrap around in as many.
  explicit DeltaEncoder(int bits) : bits_(bits) {}
  void put(std::uint64_t value) { values_.push_back(value); }
  std::size_t bytes() const { return values_.size() * 8; }
  // Appends everything put so far to `out`, and begins again.
  void take(std::string& out);

 private:
  void put_block(std::string& out, std::size_t begin, std::size_t end) const;

  int bits_;
  std::vector<std::uint64_t> values_;
};

}  // namespace kin::data
