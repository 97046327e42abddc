// The decompressed bytes of an input.
#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "data/input.h"

namespace kin::data {

// Reads from front to back. A JSON array is given as JSONL of the same length: offsets are those of
// the file. One thread only.
class ByteSource {
 public:
  // Opens `input` to be read from byte `offset`, which must be 0 if it is compressed.
  static Result<std::unique_ptr<ByteSource>> open(const Input& input, std::uint64_t offset = 0);
  virtual ~ByteSource() = default;

  // Reads up to `capacity` bytes; 0 only at the end. A compressed file that is truncated or damaged
  // is an error (kDataLoss).
  virtual Result<std::size_t> read(char* to, std::size_t capacity) = 0;

  // How many bytes of the file on disk have been read.
  virtual std::uint64_t consumed() const = 0;
};

}  // namespace kin::data
