#include "stories/grouping/text_sketch.h"

#include "sketch/banding.h"

namespace kin::stories {
namespace {

constexpr sketch::Banding kBanding{kSketchBands, kSketchHashes / kSketchBands};
constexpr std::size_t kLeastShingles = 3;
constexpr std::size_t kTextBytes = 4096;

}  // namespace

double similarity(const Signature& a, const Signature& b) {
  std::uint32_t equal = 0;
  for (std::size_t i = 0; i < kSketchHashes; ++i) equal += a[i] == b[i] ? 1 : 0;
  return double{1} * equal / kSketchHashes;
}

TextSketch sketch_of_signature(const Signature& signature) {
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
  Signature signature{};
  hasher_.sign(shingles, signature);
  return sketch_of_signature(signature);
}

}  // namespace kin::stories
