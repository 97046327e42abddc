// The tensors of a .safetensors file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kin::embed::internal {

enum class TensorType { kI8, kF16, kBF16, kF32, kF64, kI32, kI64 };

struct Tensor {
  std::string name;
  TensorType type;
  std::vector<std::size_t> shape;
  std::string_view bytes;  // of the file

  std::size_t count() const;  // of its numbers
  // Number `i`, which is below count().
  double at(std::size_t i) const;
};

// Those of `file`, which they look at, that are of a type above; kDataLoss if it is no such file,
// and no numbers but finite ones are promised. Thread-safe.
Result<std::vector<Tensor>> parse_safetensors(std::string_view file);

}  // namespace kin::embed::internal
