// A page of sorted ids, the unit of reading in the files of the seen set.
//
// Ids of a page are close together, so each is kept as its distance from the first, in as many
// bits as the largest distance needs: 47 bits instead of 64 in a set of a hundred million.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/seen/id.h"

namespace kin::store {

// A further kind of ids, which no seen set has: pairs of a key of 64 bits, as the high word, and a
// number of 32 bits that it leads to, as the low one. Filters hold the keys alone. For the runs of
// KeyIndex (src/store/fingerprints/key_index.h).
inline constexpr IdKind kPairs{3};

// The entry of an id in the filter of a file.
constexpr SeenId in_filter(SeenId id, IdKind kind) {
  return kind == kPairs ? SeenId{id.high, 0} : id;
}

// A look-up that finds something reads one page, and most of its cost is copying: a page of 4 KiB
// from the system's cache costs twice as much.
inline constexpr std::size_t kSeenPageBytes = 1024;
// Bytes after a page that must be readable, with any value: ids are read as whole words.
inline constexpr std::size_t kSeenPageSlack = 16;

// The position of a page. Part of its checksum, so that a misplaced page is refused.
struct SeenPlace {
  std::uint64_t file = 0;
  std::uint64_t page = 0;
};

struct SeenPageBytes {
  alignas(64) std::array<char, kSeenPageBytes + kSeenPageSlack> bytes;
};

// Collects ids in ascending order until a page is full. One thread only.
class SeenPageBuilder {
 public:
  explicit SeenPageBuilder(IdKind kind);

  // False, and nothing added, if the page is full. `id` must be above the one before.
  bool add(SeenId id);
  bool empty() const { return ids_.empty(); }
  std::size_t size() const { return ids_.size(); }
  SeenId first() const { return ids_.front(); }
  // The page, valid until the next call; the builder is empty again.
  std::string_view finish(const SeenPlace& place);

 private:
  IdKind kind_;
  std::vector<SeenId> ids_;
  SeenPageBytes page_;
};

// A view of a valid page. Borrows the bytes. Thread-safe.
class SeenPage {
 public:
  // Reads kSeenPageBytes and the slack at `bytes`. kDataLoss, without a path, if the page is
  // damaged or does not belong at `place`.
  static Result<SeenPage> read(const char* bytes, const SeenPlace& place, IdKind kind);

  std::size_t size() const { return count_; }
  SeenId at(std::size_t i) const { return {base_ + distance(i), low(i)}; }
  bool contains(SeenId id) const;
  // The number of ids below `id`.
  std::size_t lower_bound(SeenId id) const;
  // Appends the ids from `from` on.
  void append_to(std::vector<SeenId>& out, std::size_t from = 0) const;

 private:
  std::uint64_t distance(std::size_t i) const;
  std::uint64_t low(std::size_t i) const;

  const char* payload_ = nullptr;
  const char* lows_ = nullptr;  // behind the distances
  std::uint64_t base_ = 0;
  std::uint64_t mask_ = 0;
  std::size_t count_ = 0;
  unsigned width_ = 0;
  std::size_t low_bytes_ = 0;  // of each low word; 0: there are none
};

}  // namespace kin::store
