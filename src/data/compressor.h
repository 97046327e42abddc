// Compresses pieces of an output independently, so that several threads can work.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "data/input.h"

namespace kin::data {

// Makes one gzip member, zstd frame, bzip2 or xz stream per piece; concatenated pieces are a valid
// file. The same piece gives the same bytes. One thread only.
class Compressor {
 public:
  // `level` is that of gzip (1 to 12) or zstd (1 to 22); nothing: the default of the tools.
  explicit Compressor(Compression compression, std::optional<int> level = {});
  ~Compressor();
  Compressor(Compressor&&) noexcept;

  // `piece` compressed, or unchanged for Compression::kNone. The view is valid until the next call
  // and as long as `piece`.
  Result<std::string_view> pack(std::string_view piece);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kin::data
