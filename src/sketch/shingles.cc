#include "sketch/shingles.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

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
    case text::Normalization::kLight: return WordRule::kNotSpace;
    case text::Normalization::kStandard:
    case text::Normalization::kAggressive: return WordRule::kAlphanumeric;
  }
  KIN_UNREACHABLE();
}

}  // namespace

Result<ShingleOptions> parse_shingle(std::string_view text, text::Normalization normalization) {
  ShingleOptions options{.normalization = normalization};
  const std::size_t colon = text.find(':');
  const std::string_view unit = text.substr(0, colon);
  const std::string_view size = colon == text.npos ? "" : text.substr(colon + 1);
  const auto [end, error] = std::from_chars(size.data(), size.data() + size.size(), options.size);
  const bool is_number = error == std::errc() && end == size.data() + size.size();
  if ((unit != "word" && unit != "char") || !is_number || options.size < 1 ||
      options.size > kMaxShingle) {
    return Error{Code::kInvalidArgument,
                 fmt::format("\"{}\" is not a shingle (use word:N or char:N, N from 1 to {})", text,
                             kMaxShingle)};
  }
  if (unit == "char") options.unit = ShingleOptions::Unit::kChar;
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
  const std::size_t count = fold_shingles(std::span(hashes_).first(units), size);
  return std::span(hashes_).first(count);
}

std::size_t Shingler::hash_words(std::string_view utf8) {
  const std::string_view spaced = spacer_.space(utf8);
  if (text_.size() < spaced.size() + kPadding) text_.resize(spaced.size() + kPadding);
  WordScan scan{.text = spaced.data(),
                .size = spaced.size(),
                .lowered = text_.data(),
                .rule = rule_of(options_.normalization)};
  std::size_t count = 0;
  while (scan.at < scan.size) {
    reserve_hashes(count + kPiece / 2 + 1);
    count += scan_piece(scan, hashes_.data() + count);
  }
  return count;
}

std::size_t Shingler::hash_characters(std::string_view utf8) {
  text::normalize(utf8, options_.normalization, text_);
  reserve_hashes(text_.size());
  std::uint64_t* out = hashes_.data();
  for (std::size_t at = 0; at < text_.size();) {
    const auto lead = static_cast<std::uint8_t>(text_[at++]);
    if (lead < 0x80) {
      *out++ = kAsciiHashes[lead];
      continue;
    }
    char32_t character = lead < 0xE0 ? lead & 0x1F : lead < 0xF0 ? lead & 0x0F : lead & 0x07;
    for (; at < text_.size() && (text_[at] & 0xC0) == 0x80; ++at) {
      character = character << 6 | static_cast<char32_t>(text_[at] & 0x3F);
    }
    *out++ = hash_character(character);
  }
  return static_cast<std::size_t>(out - hashes_.data());
}

void Shingler::reserve_hashes(std::size_t count) {
  const std::size_t needed = count + kPadding / sizeof(std::uint64_t);
  if (hashes_.size() < needed) hashes_.resize(std::max(needed, 2 * hashes_.size()));
}

}  // namespace kin::sketch
