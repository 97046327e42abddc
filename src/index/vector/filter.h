// The ids that a search may return.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "index/truth/doc_set.h"

namespace kin::index {

// A set of ids with a fast contains(). Immutable, so thread-safe; make it once and search with it
// often.
class IdFilter {
 public:
  explicit IdFilter(DocSet ids);
  // In any order, with or without repeats.
  static IdFilter of(std::span<const std::uint32_t> ids) { return IdFilter(DocSet(ids)); }

  std::uint64_t size() const { return size_; }
  bool contains(std::uint32_t id) const {
    if (bits_.empty()) return ids_.contains(id);
    return id / 64 < bits_.size() && (bits_[id / 64] >> (id % 64) & 1) != 0;
  }
  std::vector<std::uint32_t> ids() const { return ids_.numbers(); }

 private:
  DocSet ids_;
  std::uint64_t size_ = 0;
  // Plain bits, unless the set is sparse: a scan asks about very many ids.
  std::vector<std::uint64_t> bits_;
};

}  // namespace kin::index
