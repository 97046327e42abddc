// A set of document numbers, compressed.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

struct roaring_bitmap_s;

namespace kin::index {

// A roaring bitmap. Thread-compatible.
class DocSet {
 public:
  DocSet();
  explicit DocSet(std::span<const std::uint32_t> numbers);
  DocSet(const DocSet& other);
  DocSet& operator=(const DocSet& other);
  DocSet(DocSet&&) noexcept = default;
  DocSet& operator=(DocSet&&) noexcept = default;
  ~DocSet() = default;

  void add(std::uint32_t number);
  void remove(std::uint32_t number);
  bool contains(std::uint32_t number) const;
  std::uint64_t size() const;
  // In order.
  std::vector<std::uint32_t> numbers() const;

 private:
  struct Release {
    void operator()(roaring_bitmap_s* bitmap) const;
  };
  std::unique_ptr<roaring_bitmap_s, Release> bitmap_;
};

}  // namespace kin::index
