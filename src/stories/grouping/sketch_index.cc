#include "stories/grouping/sketch_index.h"

#include <algorithm>
#include <ranges>

#include "base/bytes.h"
#include "base/hash.h"

namespace kin::stories {
namespace {

constexpr std::size_t kLeastBuckets = 1'024;
// Most items compared per band: a text that thousands share would make every addition slow.
constexpr std::size_t kMostCompared = 64;

}  // namespace

SketchIndex::Row SketchIndex::row_of(ItemId item, const Signature& signature) {
  Row row{.item = item, .bands = {}};
  for (std::size_t i = 0; i < kSketchHashes; ++i)
    row.bands[i / kRows].part[i % kRows] = signature[i];
  return row;
}

Signature SketchIndex::signature_of(const Row& row) {
  Signature signature{};
  for (std::size_t i = 0; i < kSketchHashes; ++i)
    signature[i] = row.bands[i / kRows].part[i % kRows];
  return signature;
}

std::size_t SketchIndex::bucket(const Band& band, std::uint32_t number) const {
  const std::span<const std::uint32_t> part(band.part);
  return hash64(as_bytes_view(part), number) & (heads_.size() - 1);
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
  Band& pushed = band(entry);
  pushed.next = std::exchange(heads_[bucket(pushed, entry % kSketchBands)], entry);
}

void SketchIndex::add(ItemId item, const TextSketch& sketch) {
  if (rows_.contains(item)) return;
  if (rows_.size() * kSketchBands >= heads_.size()) grow();
  const std::uint32_t number = take_row();
  rows_.emplace(item, number);
  row(number) = row_of(item, sketch.signature);
  for (std::uint32_t band = 0; band < kSketchBands; ++band) push(number * kSketchBands + band);
}

// Each bucket becomes two. Entries stay in order, the newest first.
void SketchIndex::grow() {
  HugeVector<Entry> old(std::max(kLeastBuckets, 2 * heads_.size()), kNone);
  std::swap(old, heads_);
  std::vector<Entry> entries;
  for (const Entry head : old) {
    entries.clear();
    for (Entry entry = head; entry != kNone; entry = band(entry).next) entries.push_back(entry);
    for (const Entry entry : std::views::reverse(entries)) push(entry);
  }
}

void SketchIndex::remove(ItemId item) {
  const auto found = rows_.find(item);
  if (found == rows_.end()) return;
  const std::uint32_t number = found->second;
  for (std::uint32_t band = 0; band < kSketchBands; ++band) {
    const Entry gone = number * kSketchBands + band;
    Entry* link = &heads_[bucket(this->band(gone), band)];
    while (*link != gone) link = &this->band(*link).next;
    *link = this->band(gone).next;
  }
  free_.push_back(number);
  rows_.erase(found);
}

std::optional<TextSketch> SketchIndex::find(ItemId item) const {
  const auto found = rows_.find(item);
  if (found == rows_.end()) return {};
  return sketch_of_signature(signature_of(row(found->second)));
}

void SketchIndex::collect(std::size_t bucket, const Band& wanted, std::uint32_t number,
                          std::vector<std::uint32_t>& rows) const {
  std::size_t count = 0;
  for (Entry entry = heads_[bucket]; entry != kNone && count < kMostCompared;) {
    const Band& other = band(entry);
    // Other bands share the bucket by chance.
    const bool same = entry % kSketchBands == number && other.part == wanted.part;
    if (same) rows.push_back(entry / kSketchBands);
    count += same ? 1 : 0;
    entry = other.next;
  }
}

std::optional<SketchIndex::Match> SketchIndex::best(const TextSketch& sketch, double least) const {
  if (heads_.empty()) return {};
  const Row wanted = row_of({}, sketch.signature);
  std::array<std::size_t, kSketchBands> buckets{};
  // The loads of all heads, and then of their rows, overlap.
  for (std::uint32_t band = 0; band < kSketchBands; ++band) {
    buckets[band] = bucket(wanted.bands[band], band);
    __builtin_prefetch(&heads_[buckets[band]]);
  }
  for (const std::size_t bucket : buckets) {
    if (heads_[bucket] != kNone) __builtin_prefetch(&band(heads_[bucket]));
  }
  std::vector<std::uint32_t> rows;
  for (std::uint32_t band = 0; band < kSketchBands; ++band)
    collect(buckets[band], wanted.bands[band], band, rows);
  // An item that shares several bands is compared once.
  std::ranges::sort(rows);
  const auto repeats = std::ranges::unique(rows);
  rows.erase(repeats.begin(), repeats.end());
  std::optional<Match> best;
  for (const std::uint32_t number : rows) {
    const Match match{row(number).item,
                      similarity(sketch.signature, signature_of(row(number)))};
    if (match.similarity < least) continue;
    const bool is_better = !best || match.similarity > best->similarity ||
                           (match.similarity == best->similarity && match.item < best->item);
    if (is_better) best = match;
  }
  return best;
}

}  // namespace kin::stories
