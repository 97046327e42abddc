// Packs pieces of an output, each on its own, so that several threads can.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "data/input.h"

namespace kin::data {

// One gzip member or zstd frame a piece; pieces put one after another make a valid file. The
// same piece gives the same bytes. One thread only.
class Compressor {
 public:
  explicit Compressor(Compression compression);
  ~Compressor();
  Compressor(Compressor&&) noexcept;

  // `piece` packed, or as it is if nothing is to be compressed. The view lives until the next
  // call, and no longer than `piece`.
  Result<std::string_view> pack(std::string_view piece);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kin::data
