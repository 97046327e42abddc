#include "index/vector/core.h"
#include "index/vector/kernels.h"

namespace kin::index::internal {

Result<std::vector<float>> VectorCore::rotated(std::span<const float> vector) const {
  KIN_TRY(std::vector<float> result, prepared(options.space, vector));
  rotation.apply(result, result.data());
  result.resize(padded_dimension(options.space.dimension), 0.0F);
  return result;
}

Result<bool> VectorCore::read(const Posting& posting, std::uint32_t slot, std::vector<float>& out,
                              const RawVectors* raw) const {
  out.assign(padded_dimension(options.space.dimension), 0.0F);
  // Resident vectors are stored rotated, others as they were given.
  if (posting.raw(slot, out.data())) return true;
  std::vector<float> given(options.space.dimension);
  KIN_TRY(const bool found, (raw != nullptr ? raw : options.raw)->read(posting.ids()[slot], given));
  if (!found) return false;
  KIN_TRY(out, rotated(given));
  return true;
}

}  // namespace kin::index::internal
