// The ids of terms by their hashes.
#pragma once

#include <cstdint>
#include <optional>

#include "base/huge_vector.h"
#include "stories/ids.h"

namespace kin::stories {

// Open addressing in one array, so that a look-up costs about one cache miss. Keys are hashes of 64
// bits, and never 0. One thread only.
class TermTable {
 public:
  // Nothing if the key is unknown.
  std::optional<TermId> find(std::uint64_t key) const;
  // The key must be unknown.
  void insert(std::uint64_t key, TermId id);
  // The key must be known.
  void erase(std::uint64_t key);
  // Begins to load what find() will read.
  void prefetch(std::uint64_t key) const {
    if (!entries_.empty()) __builtin_prefetch(&entries_[home(key)]);
  }
  std::size_t size() const { return size_; }

 private:
  struct Entry {
    std::uint64_t key = 0;  // 0: free
    TermId id{};
  };

  std::size_t home(std::uint64_t key) const { return key & (entries_.size() - 1); }
  std::size_t next(std::size_t place) const { return (place + 1) & (entries_.size() - 1); }
  // The place of the key, or the free one where it belongs.
  std::size_t place_of(std::uint64_t key) const;
  void grow();

  HugeVector<Entry> entries_;  // a power of two, or empty
  std::size_t size_ = 0;
};

}  // namespace kin::stories
