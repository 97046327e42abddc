// Parquet's hybrid encoding of runs and bit-packed groups, used for levels, dictionary indexes and
// some booleans.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kin::data {

// Reads numbers of `width` bits, at most 32, from untrusted bytes. The bytes must outlive it. One
// thread only.
class HybridDecoder {
 public:
  HybridDecoder() = default;
  HybridDecoder(std::string_view bytes, int width) : rest_(bytes), width_(width) {}

  // Reads the next `count` numbers. False if the bytes hold fewer.
  bool read(std::uint32_t* to, std::size_t count);

 private:
  bool next_run();

  std::string_view rest_;
  int width_ = 0;
  std::uint64_t left_ = 0;   // numbers of the current run
  bool packed_ = false;      // its kind
  std::uint32_t value_ = 0;  // of a run of one number
  std::string_view group_;   // of a packed run
  std::uint64_t bit_ = 0;
};

// Writes numbers of `width` bits. One thread only.
class HybridEncoder {
 public:
  explicit HybridEncoder(int width = 0) : width_(width) {}

  void put(std::uint32_t value);
  // An upper bound of the encoded size.
  std::size_t bytes() const { return out_.size() + pending_ * sizeof value_ + 16; }
  // Appends everything put so far to `out`, and begins again.
  void take(std::string& out);

 private:
  static constexpr std::size_t kGroup = 8;
  static constexpr std::size_t kMostGroups = 63;  // whose count is one byte
  void end_run();
  void end_packed();

  int width_;
  std::string out_;
  std::uint32_t value_ = 0;  // of the run that may be going on
  std::uint64_t run_ = 0;
  std::uint32_t group_[kGroup * kMostGroups] = {};
  std::size_t pending_ = 0;  // in group_
};

}  // namespace kin::data
