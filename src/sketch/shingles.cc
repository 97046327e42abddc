#include "sketch/shingles.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/ascii.h"
#include "base/utf8.h"
#include "sketch/kernels/words_kernel.h"
#include "sketch/word_hash.h"

namespace kin::sketch {
namespace {

constexpr auto kAsciiHashes = [] {
  std::array<std::uint64_t, 128> hashes{};
  for (char32_t c = 0; c < 128; ++c) hashes[c] = hash_character(c);
  return hashes;
}();

WordRule rule_of(text::Normalization preset) {
  switch (preset) {
    case text::Normalization::kNone:
    case text::Normalization::kLight:
    case text::Normalization::kCode: return WordRule::kNotSpace;
    case text::Normalization::kStandard:
    case text::Normalization::kAggressive:
    case text::Normalization::kFineweb:
    case text::Normalization::kSlimpajama: return WordRule::kAlphanumeric;
  }
  KIN_UNREACHABLE();
}

// Whether there is anything but white space in a text as it is.
bool has_words(std::string_view utf8) {
  // ASCII white space, and the bytes that all other white space begins with or has in it.
  const auto may_be_space = [](char c) {
    const auto byte = static_cast<std::uint8_t>(c);
    return byte == ' ' || (byte >= '\t' && byte <= '\r') || is_utf8_tail(c) || byte == 0xC2 ||
           (byte >= 0xE1 && byte <= 0xE3);
  };
  if (!std::all_of(utf8.begin(), utf8.end(), may_be_space)) return true;
  std::vector<std::string_view> words;
  text::split_words(utf8, text::Normalization::kNone, words);
  return !words.empty();
}

}  // namespace

Result<ShingleOptions> parse_shingle(std::string_view text, text::Normalization normalization) {
  std::string_view size = text;
  const std::string_view unit = take_until(size, ":");
  const ShingleOptions options{
      .unit = unit == "char" ? ShingleOptions::Unit::kChar : ShingleOptions::Unit::kWord,
      .size = parse_number<std::uint32_t>(size).value_or(0),
      .normalization = normalization};
  if ((unit != "word" && unit != "char") || options.size < 1 || options.size > kMaxShingle) {
    return Error{Code::kInvalidArgument,
                 fmt::format("\"{}\" is not a shingle (use word:N or char:N, N from 1 to {})", text,
                             kMaxShingle)};
  }
  return options;
}

std::string to_string(const ShingleOptions& options) {
  const bool words = options.unit == ShingleOptions::Unit::kWord;
  return fmt::format("{}:{}", words ? "word" : "char", options.size);
}

Shingler::Shingler(ShingleOptions options) : options_(options), spacer_(options.normalization) {
  KIN_CHECK(options.size >= 1 && options.size <= kMaxShingle, "a shingle has 1 to 256 units");
}

std::span<const std::uint64_t> Shingler::shingles(std::string_view valid_utf8) {
  const std::size_t units = options_.unit == ShingleOptions::Unit::kWord
                                ? hash_words(valid_utf8)
                                : hash_characters(valid_utf8);
  if (units == 0) return {};
  const std::size_t size = std::min<std::size_t>(options_.size, units);
  const std::size_t count = fold_shingles(hashes_.first(units), size);
  return hashes_.first(count);
}

std::size_t Shingler::hash_words(std::string_view utf8) {
  const std::string_view spaced = spacer_.space(utf8);
  // Buffers only grow, so texts of similar size allocate nothing.
  if (lowered_.size() < spaced.size() + kPadding) lowered_.resize(spaced.size() + kPadding);
  WordScan scan{.text = spaced.data(),
                .size = spaced.size(),
                .lowered = lowered_.data(),
                .rule = rule_of(options_.normalization)};
  std::size_t count = 0;
  while (scan.at < scan.size) {
    // Words of a piece are at least one byte with a separator behind each; one more may end in it.
    reserve_hashes(count + kPiece / 2 + 1);
    count += scan_piece(scan, hashes_.data() + count);
  }
  return count;
}

std::size_t Shingler::hash_characters(std::string_view utf8) {
  // Other presets leave nothing of a text without words.
  if (options_.normalization == text::Normalization::kNone && !has_words(utf8)) return 0;
  text::normalize(utf8, options_.normalization, normalized_);
  reserve_hashes(normalized_.size());
  std::uint64_t* out = hashes_.data();
  for (std::size_t at = 0; at < normalized_.size();) {
    const auto lead = static_cast<std::uint8_t>(normalized_[at++]);
    if (lead < 0x80) {
      *out++ = kAsciiHashes[lead];
      continue;
    }
    // The text is valid UTF-8, so the lead byte tells the length, and the tail bytes need no check.
    char32_t character = lead < 0xE0 ? lead & 0x1F : lead < 0xF0 ? lead & 0x0F : lead & 0x07;
    for (; at < normalized_.size() && is_utf8_tail(normalized_[at]); ++at) {
      character = character << 6 | static_cast<char32_t>(normalized_[at] & 0x3F);
    }
    *out++ = hash_character(character);
  }
  return static_cast<std::size_t>(out - hashes_.data());
}

void Shingler::reserve_hashes(std::size_t count) {
  const std::size_t needed = count + kPadding / sizeof(std::uint64_t);
  if (hashes_.size() >= needed) return;
  const std::size_t room = std::max(needed, 2 * hashes_.size());
  hash_bytes_.resize(room * sizeof(std::uint64_t));
  hashes_ = {reinterpret_cast<std::uint64_t*>(hash_bytes_.data()), room};
}

}  // namespace kin::sketch
