// The ids that a search may return.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"

struct roaring_bitmap_s;

namespace kin::index {

// Immutable, so thread-safe; make one once and search with it often.
class IdFilter {
 public:
  // In any order; one that is named twice counts once.
  static IdFilter of(std::span<const std::uint32_t> ids);
  // From Roaring's portable serialisation.
  static Result<IdFilter> from_bytes(std::string_view bytes);

  IdFilter(IdFilter&&) noexcept;
  IdFilter& operator=(IdFilter&&) noexcept;
  ~IdFilter();

  std::uint64_t size() const { return size_; }
  bool contains(std::uint32_t id) const {
    if (bits_.empty()) return contains_slowly(id);
    return id / 64 < bits_.size() && (bits_[id / 64] >> (id % 64) & 1) != 0;
  }
  std::vector<std::uint32_t> ids() const;

 private:
  explicit IdFilter(roaring_bitmap_s* bitmap);
  bool contains_slowly(std::uint32_t id) const;

  struct Free {
    void operator()(roaring_bitmap_s* bitmap) const;
  };
  std::unique_ptr<roaring_bitmap_s, Free> bitmap_;
  std::uint64_t size_ = 0;
  // Plain bits, where they are few for the ids that are set: a scan asks for very many.
  std::vector<std::uint64_t> bits_;
};

}  // namespace kin::index
