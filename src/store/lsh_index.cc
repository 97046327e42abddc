#include "store/lsh_index.h"

#include <algorithm>

#include "base/check.h"
#include "base/hash.h"

namespace kin::store {
namespace {

// Records of one key that stay in the table. More would slow down their neighbours; fewer would
// make the lists of middling keys cost more than the slots they save.
constexpr std::size_t kInline = 256;

// A list that grows by a quarter costs no more per record than a slot, even while it is copied.
void append(std::vector<RecordId>& list, RecordId id) {
  if (list.size() == list.capacity()) list.reserve(list.size() + list.size() / 4 + 4);
  list.push_back(id);
}

RecordId record_of(std::uint64_t slot) {
  return RecordId(static_cast<std::uint32_t>(slot));
}

}  // namespace

LshIndex::LshIndex(LshIndexOptions options)
    : options_(options), tables_(std::size_t{1} << kTableBits) {}

LshIndex::Place LshIndex::place(std::uint64_t key, std::size_t band) {
  // The band is mixed in, because equal keys of two bands must not collide. Table and tag are bits
  // from opposite ends, so that they are independent.
  const std::uint64_t mixed = mix64(key + (band + 1) * 0x9e3779b97f4a7c15ULL);
  return {static_cast<std::uint32_t>(mixed >> (64 - kTableBits)),
          static_cast<std::uint32_t>(mixed)};
}

void LshIndex::prefetch(std::span<const std::uint64_t> band_keys) const {
  for (std::size_t band = 0; band < band_keys.size(); ++band) {
    // All bands first: later ones are prefetched while the first is looked up.
    const Place at = place(band_keys[band], band);
    tables_[at.table].prefetch(at.tag);
  }
}

bool LshIndex::insert(RecordId id, std::span<const std::uint64_t> band_keys) {
  KIN_CHECK(id != kNoRecord, "an index entry needs the id of a record");
  if (live_.contains(id)) return false;
  // The slots of the removed record would count as those of the new one.
  if (removed_.contains(id)) compact();
  live_.insert(id);
  prefetch(band_keys);
  for (std::size_t band = 0; band < band_keys.size(); ++band)
    insert_at(place(band_keys[band], band), id);
  return true;
}

void LshIndex::insert_at(Place place, RecordId id) {
  Table& table = tables_[place.table];
  if (table.find(place.tag).size() < kInline) {
    table.insert(place.tag, static_cast<std::uint32_t>(id));
  } else {
    append(overflow_[overflow_key(place)], id);
  }
}

std::vector<RecordId> LshIndex::query(std::span<const std::uint64_t> band_keys) const {
  prefetch(band_keys);
  std::vector<RecordId> hits;
  bool capped = false;
  for (std::size_t band = 0; band < band_keys.size(); ++band) {
    capped |= collect(place(band_keys[band], band), hits);
  }
  std::sort(hits.begin(), hits.end());
  capped |= keep_best(hits);
  if (capped) capped_.fetch_add(1, std::memory_order_relaxed);
  return hits;
}

// True if the key has more than the limit allows.
bool LshIndex::collect(Place place, std::vector<RecordId>& hits) const {
  // The limit for this key alone, on top of the hits of other bands. The difference keeps the sum
  // from overflowing.
  const std::size_t limit = options_.max_candidates.value_or(SIZE_MAX - hits.size()) + hits.size();
  const auto take = [&](RecordId id) {
    if (!live_.contains(id)) return true;
    if (hits.size() >= limit) return false;
    hits.push_back(id);
    return true;
  };
  const auto slots = tables_[place.table].find(place.tag);
  for (const std::uint64_t slot : slots) {
    if (!take(record_of(slot))) return true;
  }
  // The list of a key is only filled when its slots in the table are.
  if (slots.size() < kInline) return false;
  const auto list = overflow_.find(overflow_key(place));
  if (list == overflow_.end()) return false;
  return !std::all_of(list->second.begin(), list->second.end(), take);
}

// Makes sorted `hits` unique, and applies the limit. True if some were dropped.
bool LshIndex::keep_best(std::vector<RecordId>& hits) const {
  // Nothing to merge or to cut.
  if (hits.size() <= 1) return false;
  struct Counted {
    std::size_t bands;
    RecordId id;
  };
  std::vector<Counted> counted;
  // Equal ids are neighbours, one for each band that they share.
  for (const RecordId id : hits) {
    if (counted.empty() || counted.back().id != id) counted.push_back({0, id});
    ++counted.back().bands;
  }
  const std::size_t limit = options_.max_candidates.value_or(SIZE_MAX);
  const bool over = counted.size() > limit;
  if (over) {
    std::ranges::nth_element(
        counted, counted.begin() + static_cast<std::ptrdiff_t>(limit), {},
        [](const Counted& one) { return std::pair(SIZE_MAX - one.bands, one.id); });
    counted.resize(limit);
    std::ranges::sort(counted, {}, &Counted::id);
  }
  hits.clear();
  for (const Counted& one : counted) hits.push_back(one.id);
  return over;
}

bool LshIndex::remove(RecordId id) {
  if (!live_.erase(id)) return false;
  // The slots stay, and queries skip them. Removing them one by one would shift the table each
  // time.
  removed_.insert(id);
  // Compacting costs a pass over all tables, so it waits for an eighth of them to be dead, and for
  // more than a few.
  constexpr std::size_t kFew = 1024;
  if (removed_.count() > kFew && removed_.count() > live_.count() / 8) compact();
  return true;
}

void LshIndex::compact() {
  if (removed_.count() == 0) return;
  const auto dead = [&](RecordId id) { return removed_.contains(id); };
  for (Table& table : tables_)
    table.compact([&](std::uint64_t slot) { return dead(record_of(slot)); });
  for (auto it = overflow_.begin(); it != overflow_.end();) {
    std::erase_if(it->second, dead);
    refill(it->first, it->second);
    // refill() may have moved all of the list into the table.
    it = it->second.empty() ? overflow_.erase(it) : std::next(it);
  }
  removed_.clear();
}

// A list is read only if the table holds kInline records of its key, so the table is filled first.
void LshIndex::refill(std::uint64_t key, std::vector<RecordId>& overflow) {
  Table& table = tables_[key >> kTagBits];
  const auto tag = static_cast<std::uint32_t>(key);
  const std::size_t missing = std::min(kInline - table.find(tag).size(), overflow.size());
  for (std::size_t i = 0; i < missing; ++i)
    table.insert(tag, static_cast<std::uint32_t>(overflow[i]));
  overflow.erase(overflow.begin(), overflow.begin() + static_cast<std::ptrdiff_t>(missing));
  overflow.shrink_to_fit();
}

void LshIndex::clear() {
  for (Table& table : tables_) table.clear();
  overflow_.clear();
  live_.clear();
  removed_.clear();
}

std::size_t LshIndex::bytes() const {
  std::size_t total = tables_.capacity() * sizeof(Table) + live_.bytes() + removed_.bytes();
  for (const Table& table : tables_) total += table.bytes();
  // A node of the map: its key, the list's own fields, the link, and the allocator's word.
  constexpr std::size_t kNode =
      sizeof(std::uint64_t) + sizeof(std::vector<RecordId>) + 2 * sizeof(void*);
  total += overflow_.bucket_count() * sizeof(void*);
  for (const auto& [key, list] : overflow_) total += kNode + list.capacity() * sizeof(RecordId);
  return total;
}

}  // namespace kin::store
