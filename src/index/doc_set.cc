#include "index/doc_set.h"

#include <roaring/roaring.h>

namespace kin::index {

void DocSet::Release::operator()(roaring_bitmap_s* bitmap) const {
  roaring_bitmap_free(bitmap);
}

DocSet::DocSet() : bitmap_(roaring_bitmap_create()) {}

DocSet::DocSet(std::span<const std::uint32_t> numbers)
    : bitmap_(roaring_bitmap_of_ptr(numbers.size(), numbers.data())) {}

DocSet::DocSet(const DocSet& other) : bitmap_(roaring_bitmap_copy(other.bitmap_.get())) {}

DocSet& DocSet::operator=(const DocSet& other) {
  if (this != &other) bitmap_.reset(roaring_bitmap_copy(other.bitmap_.get()));
  return *this;
}

void DocSet::add(std::uint32_t number) {
  roaring_bitmap_add(bitmap_.get(), number);
}

void DocSet::remove(std::uint32_t number) {
  roaring_bitmap_remove(bitmap_.get(), number);
}

bool DocSet::contains(std::uint32_t number) const {
  return roaring_bitmap_contains(bitmap_.get(), number);
}

std::uint64_t DocSet::size() const {
  return roaring_bitmap_get_cardinality(bitmap_.get());
}

std::vector<std::uint32_t> DocSet::numbers() const {
  std::vector<std::uint32_t> numbers(size());
  roaring_bitmap_to_uint32_array(bitmap_.get(), numbers.data());
  return numbers;
}

}  // namespace kin::index
