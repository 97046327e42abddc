// Compresses single texts, for stores of many of them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kin::data {

// Packs texts of any bytes with zstd, or stores them unchanged where that is shorter. A packed text
// records how it was packed. One thread only.
class TextPacker {
 public:
  TextPacker();
  ~TextPacker();
  TextPacker(TextPacker&&) noexcept;

  // Valid until the next call.
  std::string_view pack(std::string_view text);
  // The text that was packed, at most `most` bytes. kDataLoss if the bytes are not valid. Valid
  // until the next call, and as long as `packed`.
  Result<std::string_view> unpack(std::string_view packed, std::uint64_t most);
  // The bytes of the text that was packed, as its packed form says; 0 if that is not valid.
  static std::uint64_t size_of(std::string_view packed);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kin::data
