#include "index/vector/filter.h"

namespace kin::index {
namespace {

// Plain bits are kept if they take at most this many bits per id.
constexpr std::uint64_t kMostBitsForId = 1024;

}  // namespace

IdFilter::IdFilter(DocSet ids) : ids_(std::move(ids)), size_(ids_.size()) {
  const std::uint64_t bits = std::uint64_t{ids_.largest()} + 1;
  if (bits <= size_ * kMostBitsForId) bits_ = ids_.bits();
}

}  // namespace kin::index
