// The bytes of an input as they were before it was compressed.
#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "data/input.h"

namespace kin::data {

// Reads from front to back. One thread only.
class ByteSource {
 public:
  // Opens `input` to be read from byte `offset`, which must be 0 if it is compressed.
  static Result<std::unique_ptr<ByteSource>> open(const Input& input, std::uint64_t offset = 0);
  virtual ~ByteSource() = default;

  // Up to `capacity` bytes; 0 only at the end. A compressed file that is cut short or damaged is
  // an error (kDataLoss), never an early end.
  virtual Result<std::size_t> read(char* to, std::size_t capacity) = 0;

  // How far into the file itself, in bytes on disk, the reading has come.
  virtual std::uint64_t consumed() const = 0;
};

}  // namespace kin::data
