// The tensors of a .safetensors file.
#pragma once

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
  std::string_view bytes;  // in the file

  std::size_t count() const;  // how many numbers it has
  // Number `i`, which is below count().
  double at(std::size_t i) const;
};

// The tensors of `file` that have one of the types above. They borrow the bytes of `file`. Numbers
// need not be finite. kDataLoss if it is not such a file. Thread-safe.
Result<std::vector<Tensor>> parse_safetensors(std::string_view file);

}  // namespace kin::embed::internal
