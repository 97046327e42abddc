#include "stories/grouping/text_sketch.h"

#include <algorithm>

#include "sketch/banding.h"

namespace kin::stories {
namespace {

constexpr sketch::Banding kBanding{kSketchBands, kSketchHashes / kSketchBands};
constexpr std::size_t kLeastShingles = 3;
constexpr std::size_t kTextBytes = 4096;
// Of one band: a text that thousands share would make every addition slow.
constexpr std::size_t kMostCompared = 64;

}  // namespace

double similarity(const TextSketch& a, const TextSketch& b) {
  std::uint32_t equal = 0;
  for (std::size_t i = 0; i < kSketchHashes; ++i) equal += a.signature[i] == b.signature[i] ? 1 : 0;
  return double{1} * equal / kSketchHashes;
}

TextSketch sketch_of_signature(const std::array<std::uint32_t, kSketchHashes>& signature) {
  TextSketch sketch{.signature = signature, .bands = {}};
  sketch::band_keys(sketch.signature, kBanding, sketch.bands);
  return sketch;
}

TextSketcher::TextSketcher()
    : shingler_({.unit = sketch::ShingleOptions::Unit::kWord,
                 .size = 2,
                 .normalization = text::Normalization::kStandard}),
      hasher_(kSketchHashes) {}

std::optional<TextSketch> TextSketcher::sketch(const Item& item) {
  text_.assign(item.title).append(" ").append(item.summary, 0, kTextBytes);
  // A cut at kTextBytes may split a character; the shingler wants valid text.
  if (!text::is_valid_utf8(text_)) return {};
  const auto shingles = shingler_.shingles(text_);
  if (shingles.size() < kLeastShingles) return {};
  std::array<std::uint32_t, kSketchHashes> signature{};
  hasher_.sign(shingles, signature);
  return sketch_of_signature(signature);
}

void SketchIndex::add(ItemId item, const TextSketch& sketch) {
  if (!sketches_.emplace(item, sketch).second) return;
  for (const std::uint64_t band : sketch.bands) buckets_[band].push_back(item);
}

void SketchIndex::remove(ItemId item) {
  const auto found = sketches_.find(item);
  if (found == sketches_.end()) return;
  for (const std::uint64_t band : found->second.bands) {
    const auto bucket = buckets_.find(band);
    std::erase(bucket->second, item);
    if (bucket->second.empty()) buckets_.erase(bucket);
  }
  sketches_.erase(found);
}

const TextSketch* SketchIndex::find(ItemId item) const {
  const auto found = sketches_.find(item);
  return found == sketches_.end() ? nullptr : &found->second;
}

std::optional<SketchIndex::Match> SketchIndex::best(const TextSketch& sketch, double least) const {
  std::vector<ItemId> candidates;
  for (const std::uint64_t band : sketch.bands) {
    const auto bucket = buckets_.find(band);
    if (bucket == buckets_.end()) continue;
    const std::size_t count = std::min(bucket->second.size(), kMostCompared);
    candidates.insert(candidates.end(), bucket->second.end() - static_cast<std::ptrdiff_t>(count),
                      bucket->second.end());
  }
  std::ranges::sort(candidates);
  // An item that shares several bands is compared once.
  const auto repeats = std::ranges::unique(candidates);
  candidates.erase(repeats.begin(), repeats.end());
  std::optional<Match> best;
  for (const ItemId item : candidates) {
    const double alike = similarity(sketch, sketches_.at(item));
    if (alike >= least && (!best || alike > best->similarity)) best = Match{item, alike};
  }
  return best;
}

}  // namespace kin::stories
