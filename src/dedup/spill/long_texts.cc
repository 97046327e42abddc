#include "dedup/spill/long_texts.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/utf8.h"

namespace kin::dedup {
namespace {

bool is_word_byte(char c) {
  return is_ascii_alpha(c) || is_ascii_digit(c);
}

bool is_above_ascii(char c) {
  return static_cast<signed char>(c) < 0;
}

}  // namespace

// In scripts without spaces, whose characters have three bytes or more, each character is a word.
std::uint64_t text_units(std::string_view text, const sketch::ShingleOptions& shingles) {
  std::uint64_t units = 0;
  if (shingles.unit == sketch::ShingleOptions::Unit::kChar) {
    for (const char c : text) units += is_utf8_tail(c) ? 0 : 1;
    return units;
  }
  bool in_word = false;
  for (const char c : text) {
    const auto byte = static_cast<std::uint8_t>(c);
    const bool of_word = byte > ' ' && (byte >= 0x80 || is_word_byte(c));
    units += (of_word && !in_word) || byte >= 0xE0 ? 1 : 0;
    in_word = of_word;
  }
  // Words of other presets are separated by spaces alone, so there are no more of them; except
  // code, where every operator is a word.
  if (shingles.normalization != text::Normalization::kCode) return units;
  for (const char c : text) units += c > ' ' && !is_word_byte(c) ? 1 : 0;
  return units;
}

std::uint64_t cut_units(std::string_view text, CutOptions::Unit unit) {
  using Unit = CutOptions::Unit;
  if (unit == Unit::kByte) return 0;
  if (unit != Unit::kWord)
    return 1 + static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
  std::uint64_t units = 0;
  bool in_word = false;
  for (const char c : text) {
    const auto byte = static_cast<std::uint8_t>(c);
    const bool of_word = byte != ' ' && (byte < '\t' || byte > '\r');
    units += (of_word && !in_word) || byte >= 0xE0 ? 1 : 0;
    in_word = of_word;
  }
  return units;
}

std::uint64_t text_units(std::string_view text, const DedupOptions& options) {
  const std::uint64_t units = text_units(text, options.shingles);
  if (!options.cut) return units;
  // Words of other scripts than ASCII are found as views first, which take half as much again.
  const std::uint64_t cut = cut_units(text, options.cut->unit);
  const bool views = options.cut->unit == CutOptions::Unit::kWord &&
                     std::any_of(text.begin(), text.end(), is_above_ascii);
  return std::max(units, views ? cut + cut / 2 : cut);
}

std::uint64_t text_weight(std::uint64_t bytes, std::uint64_t units) {
  // While two texts are compared: four copies of one as text, three of its hashes. While it is cut:
  // as it was read, without escapes, and the text that it is compared with, as it was kept and with
  // the places of its units; of a unit 23 bytes, for its place and for the other's.
  constexpr std::uint64_t kTexts = 4;
  constexpr std::uint64_t kHashes = 3 * sizeof(std::uint64_t);
  return std::max(bytes, (kTexts * bytes + kHashes * units) / kCompareCopies);
}

std::uint64_t text_weight(std::string_view text, const DedupOptions& options) {
  if (text.size() <= kShortText) return text.size();
  return text_weight(text.size(), text_units(text, options));
}

std::uint64_t sketch_copies(const DedupOptions& options) {
  // As it was read, without escapes, and what a sketch makes of it.
  constexpr std::uint64_t kSketch = 3;
  std::uint64_t copies = 2 + kSketch;
  if (options.detectors.simhash && options.detectors.minhash) copies += kSketch;
  if (options.contains) copies += 2 * kSketch;
  if (options.detectors.chunk) copies += kSketch;
  if (options.exact_normalization) ++copies;
  if (options.fields.size() > 1) copies += 2;
  return copies;
}

TextRoom::Share::Share(TextRoom& room, std::uint64_t bytes)
    : room_(room), bytes_(std::min(bytes, room.bytes_)) {
  std::unique_lock lock(room_.mutex_);
  room_.given_back_.wait(lock, [&] { return bytes_ <= room_.free_; });
  room_.free_ -= bytes_;
}

TextRoom::Share::~Share() {
  const std::scoped_lock lock(room_.mutex_);
  room_.free_ += bytes_;
  room_.given_back_.notify_all();
}

}  // namespace kin::dedup
