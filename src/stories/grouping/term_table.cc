#include "stories/grouping/term_table.h"

#include <algorithm>
#include <utility>

namespace kin::stories {

std::size_t TermTable::place_of(std::uint64_t key) const {
  std::size_t place = home(key);
  while (entries_[place].key != 0 && entries_[place].key != key) place = next(place);
  return place;
}

std::optional<TermId> TermTable::find(std::uint64_t key) const {
  if (entries_.empty()) return {};
  const Entry& entry = entries_[place_of(key)];
  if (entry.key == 0) return {};
  return entry.id;
}

void TermTable::insert(std::uint64_t key, TermId id) {
  if (4 * (size_ + 1) > 3 * entries_.size()) grow();
  entries_[place_of(key)] = {key, id};
  ++size_;
}

// The entries behind it move up, so that no look-up stops at the gap.
void TermTable::erase(std::uint64_t key) {
  const std::size_t mask = entries_.size() - 1;
  std::size_t gap = place_of(key);
  for (std::size_t place = next(gap); entries_[place].key != 0; place = next(place)) {
    // An entry between its home and the gap stays where it is.
    if (((place - home(entries_[place].key)) & mask) < ((place - gap) & mask)) continue;
    entries_[gap] = entries_[place];
    gap = place;
  }
  entries_[gap] = {};
  --size_;
}

void TermTable::grow() {
  constexpr std::size_t kLeast = 1'024;
  HugeVector<Entry> old(std::max(kLeast, 2 * entries_.size()));
  std::swap(old, entries_);
  for (const Entry& entry : old) {
    if (entry.key != 0) entries_[place_of(entry.key)] = entry;
  }
}

}  // namespace kin::stories
