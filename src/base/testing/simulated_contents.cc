#include "base/testing/simulated_contents.h"

#include <algorithm>
#include <set>

namespace kin {
namespace {

// Copies `sector` from `source` into `image`, as far as `image` reaches; zeros where `source` has
// ended.
void copy_sector(std::uint64_t sector, const std::string& source, std::string& image) {
  const std::uint64_t begin = sector * SimulatedContents::kSector;
  const std::uint64_t end =
      std::min<std::uint64_t>(begin + SimulatedContents::kSector, image.size());
  for (std::uint64_t at = begin; at < end; ++at) image[at] = at < source.size() ? source[at] : '\0';
}

}  // namespace

void SimulatedContents::Change::apply(std::string& image, std::uint64_t count) const {
  image.resize(std::max(base, offset + count), '\0');
  image.replace(offset, count, bytes, 0, count);
}

void SimulatedContents::write_at(std::uint64_t offset, std::string_view bytes) {
  // An empty write changes nothing, not even the size.
  if (bytes.empty()) return;
  // A write beyond the end also changes the sectors of the gap, which become zeros.
  const std::uint64_t from = std::min<std::uint64_t>(offset, seen_.size());
  unsynced_.push_back({from, seen_.size(), offset, std::string(bytes)});
  unsynced_.back().apply(seen_);
}

void SimulatedContents::truncate(std::uint64_t size) {
  unsynced_.push_back({std::min<std::uint64_t>(size, seen_.size()), size, size, {}});
  unsynced_.back().apply(seen_);
}

void SimulatedContents::sync() {
  device_ = kept();
  unsynced_.clear();
}

void SimulatedContents::fail_sync() {
  // device_ stays as it was, and seen_ keeps the bytes: programs read them from the cache.
  unsynced_.clear();
}

// Whole sectors reach the device, so that bytes dropped by a failed sync are saved if a later
// write touched their sector.
std::string SimulatedContents::kept() const {
  if (unsynced_.empty()) return device_;
  std::string image = device_;
  image.resize(seen_.size(), '\0');
  for (const Change& change : unsynced_) {
    const std::uint64_t end = std::min<std::uint64_t>(change.end(), seen_.size());
    for (std::uint64_t sector = change.from / kSector; sector * kSector < end; ++sector)
      copy_sector(sector, seen_, image);
  }
  return image;
}

std::string SimulatedContents::kept_prefix(std::uint64_t unit, Random& random) const {
  std::string image = device_;
  // Changes are kept in order; the first one that is not whole may be torn.
  const std::uint64_t whole = random.below(unsynced_.size() + 1);
  for (std::uint64_t i = 0; i < whole; ++i) unsynced_[i].apply(image);
  if (whole == unsynced_.size()) return image;
  const Change& torn = unsynced_[whole];
  // Rounded down to the unit, so the tear is at the end of a sector for kTorn.
  const std::uint64_t stop = (torn.offset + random.below(torn.bytes.size() + 1)) / unit * unit;
  if (stop > torn.offset) torn.apply(image, stop - torn.offset);
  return image;
}

std::string SimulatedContents::shuffled(Random& random) const {
  std::set<std::uint64_t> touched;
  for (const Change& change : unsynced_) {
    for (std::uint64_t at = change.from / kSector; at * kSector < change.end(); ++at)
      touched.insert(at);
  }
  std::string image = device_;
  const std::uint64_t size =
      // The new size is metadata, which a journal may write before or after the data.
      random.below(2) == 0 ? seen_.size() : unsynced_[random.below(unsynced_.size())].size();
  image.resize(size, '\0');
  for (const std::uint64_t sector : touched) {
    if (random.below(2) == 0) copy_sector(sector, seen_, image);
  }
  return image;
}

std::string SimulatedContents::after_power_cut(UnsyncedBytes unsynced, Random& random) const {
  if (unsynced_.empty()) return device_;
  switch (unsynced) {
    case UnsyncedBytes::kLost: return device_;
    case UnsyncedBytes::kKept: return kept();
    case UnsyncedBytes::kPrefix: return kept_prefix(1, random);
    case UnsyncedBytes::kTorn: return kept_prefix(kSector, random);
    case UnsyncedBytes::kShuffled: return shuffled(random);
    case UnsyncedBytes::kAny:
      return after_power_cut(
          static_cast<UnsyncedBytes>(random.below(static_cast<std::uint64_t>(UnsyncedBytes::kAny))),
          random);
  }
  return device_;
}

}  // namespace kin
