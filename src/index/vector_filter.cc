#include "index/vector_filter.h"

#include <roaring/roaring.h>

namespace kin::index {
namespace {

// Plain bits are kept if they take no more than this for each id that is set.
constexpr std::uint64_t kMostBitsForId = 1024;

}  // namespace

void IdFilter::Free::operator()(roaring_bitmap_s* bitmap) const {
  roaring_bitmap_free(bitmap);
}

IdFilter::IdFilter(roaring_bitmap_s* bitmap)
    : bitmap_(bitmap), size_(roaring_bitmap_get_cardinality(bitmap)) {
  if (size_ == 0) return;
  const std::uint64_t bits = std::uint64_t{roaring_bitmap_maximum(bitmap)} + 1;
  if (bits > size_ * kMostBitsForId) return;
  bits_.resize((bits + 63) / 64);
  roaring_iterate(
      bitmap,
      [](std::uint32_t id, void* words) {
        static_cast<std::uint64_t*>(words)[id / 64] |= 1ULL << (id % 64);
        return true;
      },
      bits_.data());
}

IdFilter::IdFilter(IdFilter&&) noexcept = default;
IdFilter& IdFilter::operator=(IdFilter&&) noexcept = default;
IdFilter::~IdFilter() = default;

IdFilter IdFilter::of(std::span<const std::uint32_t> ids) {
  return IdFilter(roaring_bitmap_of_ptr(ids.size(), ids.data()));
}

Result<IdFilter> IdFilter::from_bytes(std::string_view bytes) {
  roaring_bitmap_t* bitmap = roaring_bitmap_portable_deserialize_safe(bytes.data(), bytes.size());
  if (bitmap == nullptr) return Error{Code::kDataLoss, "the filter is not a Roaring bitmap"};
  return IdFilter(bitmap);
}

bool IdFilter::contains_slowly(std::uint32_t id) const {
  return size_ != 0 && roaring_bitmap_contains(bitmap_.get(), id);
}

std::vector<std::uint32_t> IdFilter::ids() const {
  std::vector<std::uint32_t> result(size_);
  roaring_bitmap_to_uint32_array(bitmap_.get(), result.data());
  return result;
}

}  // namespace kin::index
