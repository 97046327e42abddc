#include "stories/grouping/sketch_index.h"

#include <algorithm>
#include <ranges>

#include "base/bytes.h"
#include "base/hash.h"

namespace kin::stories {
namespace {

constexpr std::uint32_t kRows = kSketchHashes / kSketchBands;
constexpr std::size_t kLeastBuckets = 1'024;
// Most items compared per band: a text that thousands share would make every addition slow.
constexpr std::size_t kMostCompared = 64;

std::span<const std::uint32_t> rows_of(const Signature& signature, std::uint32_t band) {
  return std::span(signature).subspan(std::size_t{band} * kRows, kRows);
}

}  // namespace

std::size_t SketchIndex::bucket(const Signature& signature, std::uint32_t band) const {
  return hash64(as_bytes_view(rows_of(signature, band)), band) & (heads_.size() - 1);
}

std::uint32_t SketchIndex::take_row() {
  if (free_.empty()) {
    const auto first = static_cast<std::uint32_t>(blocks_.size() * kBlock);
    blocks_.push_back(std::make_unique<Block>());
    for (std::uint32_t i = kBlock; i-- > 0;) free_.push_back(first + i);
  }
  const std::uint32_t number = free_.back();
  free_.pop_back();
  return number;
}

void SketchIndex::push(Entry entry) {
  Entry& head = heads_[bucket(row_of(entry).signature, entry % kSketchBands)];
  next(entry) = std::exchange(head, entry);
}

void SketchIndex::add(ItemId item, const TextSketch& sketch) {
  if (rows_.contains(item)) return;
  if (rows_.size() * kSketchBands >= heads_.size()) grow();
  const std::uint32_t number = take_row();
  rows_.emplace(item, number);
  row(number).item = item;
  row(number).signature = sketch.signature;
  for (std::uint32_t band = 0; band < kSketchBands; ++band) push(number * kSketchBands + band);
}

// Each bucket becomes two. Entries stay in order, the newest first.
void SketchIndex::grow() {
  std::vector<Entry> old(std::max(kLeastBuckets, 2 * heads_.size()), kNone);
  std::swap(old, heads_);
  std::vector<Entry> entries;
  for (const Entry head : old) {
    entries.clear();
    for (Entry entry = head; entry != kNone; entry = next(entry)) entries.push_back(entry);
    for (const Entry entry : std::views::reverse(entries)) push(entry);
  }
}

void SketchIndex::remove(ItemId item) {
  const auto found = rows_.find(item);
  if (found == rows_.end()) return;
  const std::uint32_t number = found->second;
  for (std::uint32_t band = 0; band < kSketchBands; ++band) {
    const Entry gone = number * kSketchBands + band;
    Entry* link = &heads_[bucket(row(number).signature, band)];
    while (*link != gone) link = &next(*link);
    *link = next(gone);
  }
  free_.push_back(number);
  rows_.erase(found);
}

std::optional<TextSketch> SketchIndex::find(ItemId item) const {
  const auto found = rows_.find(item);
  if (found == rows_.end()) return {};
  return sketch_of_signature(row(found->second).signature);
}

void SketchIndex::collect(const Signature& signature, std::uint32_t band,
                          std::vector<std::uint32_t>& rows) const {
  const auto wanted = rows_of(signature, band);
  std::size_t count = 0;
  Entry entry = heads_[bucket(signature, band)];
  while (entry != kNone && count < kMostCompared) {
    const Row& other = row_of(entry);
    // Other bands share the bucket by chance.
    const bool same =
        entry % kSketchBands == band && std::ranges::equal(rows_of(other.signature, band), wanted);
    if (same) rows.push_back(entry / kSketchBands);
    count += same ? 1 : 0;
    entry = other.next[entry % kSketchBands];
  }
}

std::optional<SketchIndex::Match> SketchIndex::best(const TextSketch& sketch, double least) const {
  if (heads_.empty()) return {};
  std::vector<std::uint32_t> rows;
  for (std::uint32_t band = 0; band < kSketchBands; ++band) collect(sketch.signature, band, rows);
  // An item that shares several bands is compared once.
  std::ranges::sort(rows);
  const auto repeats = std::ranges::unique(rows);
  rows.erase(repeats.begin(), repeats.end());
  std::optional<Match> best;
  for (const std::uint32_t number : rows) {
    const Match match{row(number).item, similarity(sketch.signature, row(number).signature)};
    if (match.similarity < least) continue;
    const bool is_better = !best || match.similarity > best->similarity ||
                           (match.similarity == best->similarity && match.item < best->item);
    if (is_better) best = match;
  }
  return best;
}

}  // namespace kin::stories
