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
  // In any order; repeated numbers count once.
  explicit DocSet(std::span<const std::uint32_t> numbers);
  // All numbers below `end`.
  static DocSet below(std::uint32_t end);

  DocSet(const DocSet& other);
  DocSet& operator=(const DocSet& other);
  DocSet(DocSet&&) noexcept = default;
  DocSet& operator=(DocSet&&) noexcept = default;
  ~DocSet() = default;

  void add(std::uint32_t number);
  void add(std::span<const std::uint32_t> numbers);
  void add(const DocSet& others);
  void remove(std::uint32_t number);
  void remove(const DocSet& others);
  // Intersects with `others`.
  void keep(const DocSet& others);

  bool contains(std::uint32_t number) const;
  std::uint64_t size() const;
  // In order; all of them, or `limit` of them behind the first `offset`.
  std::vector<std::uint32_t> numbers() const;
  std::vector<std::uint32_t> numbers(std::size_t offset, std::size_t limit) const;
  std::uint32_t largest() const;  // 0 if there is none
  // One bit a number, up to the largest, in words of 64 from the lowest bit on.
  std::vector<std::uint64_t> bits() const;

 private:
  struct Release {
    void operator()(roaring_bitmap_s* bitmap) const;
  };
  explicit DocSet(roaring_bitmap_s* bitmap) : bitmap_(bitmap) {}
  std::unique_ptr<roaring_bitmap_s, Release> bitmap_;
};

}  // namespace kin::index
