#include "index/truth/doc_set.h"

#include <roaring/roaring.h>

#include <algorithm>

namespace kin::index {

void DocSet::Release::operator()(roaring_bitmap_s* bitmap) const {
  roaring_bitmap_free(bitmap);
}

DocSet::DocSet() : bitmap_(roaring_bitmap_create()) {}

DocSet::DocSet(std::span<const std::uint32_t> numbers)
    : bitmap_(roaring_bitmap_of_ptr(numbers.size(), numbers.data())) {}

DocSet DocSet::below(std::uint32_t end) {
  // Roaring has no empty range.
  return end == 0 ? DocSet() : DocSet(roaring_bitmap_from_range(0, end, 1));
}

DocSet::DocSet(const DocSet& other) : bitmap_(roaring_bitmap_copy(other.bitmap_.get())) {}

DocSet& DocSet::operator=(const DocSet& other) {
  if (this != &other) bitmap_.reset(roaring_bitmap_copy(other.bitmap_.get()));
  return *this;
}

void DocSet::add(std::uint32_t number) {
  roaring_bitmap_add(bitmap_.get(), number);
}

void DocSet::add(std::span<const std::uint32_t> numbers) {
  roaring_bitmap_add_many(bitmap_.get(), numbers.size(), numbers.data());
}

void DocSet::remove(std::uint32_t number) {
  roaring_bitmap_remove(bitmap_.get(), number);
}

void DocSet::add(const DocSet& others) {
  roaring_bitmap_or_inplace(bitmap_.get(), others.bitmap_.get());
}

void DocSet::remove(const DocSet& others) {
  roaring_bitmap_andnot_inplace(bitmap_.get(), others.bitmap_.get());
}

void DocSet::keep(const DocSet& others) {
  roaring_bitmap_and_inplace(bitmap_.get(), others.bitmap_.get());
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

std::vector<std::uint32_t> DocSet::numbers(std::size_t offset, std::size_t limit) const {
  const std::size_t all = size();
  std::vector<std::uint32_t> page(std::min(limit, all - std::min(offset, all)));
  // Roaring writes without a check, so nothing is asked for behind the last number.
  if (!page.empty())
    roaring_bitmap_range_uint32_array(bitmap_.get(), offset, page.size(), page.data());
  return page;
}

std::uint32_t DocSet::largest() const {
  return roaring_bitmap_maximum(bitmap_.get());
}

std::vector<std::uint64_t> DocSet::bits() const {
  std::vector<std::uint64_t> words(largest() / 64 + 1);
  roaring_iterate(
      bitmap_.get(),
      [](std::uint32_t number, void* bits) {
        static_cast<std::uint64_t*>(bits)[number / 64] |= 1ULL << (number % 64);
        return true;
      },
      words.data());
  return words;
}

}  // namespace kin::index
