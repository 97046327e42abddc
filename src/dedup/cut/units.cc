#include "dedup/cut/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/utf8.h"
#include "dedup/spill/long_texts.h"
#include "sketch/word_hash.h"
#include "text/words.h"

namespace kin::dedup {
namespace {

using Unit = CutOptions::Unit;

// ASCII white space by Unicode's definition, so that words are those of text/words.h.
constexpr bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<signed char>(c) >= 0; });
}

// The end of the line that begins at `begin`: its line feed, or the end of the text.
std::size_t line_end(std::string_view text, std::size_t begin) {
  return std::min(text.find('\n', begin), text.size());
}

// Excludes the carriage return of a line that ends with CR LF.
std::size_t content_end(std::string_view text, std::size_t begin, std::size_t end) {
  const bool both = end < text.size() && end > begin && text[end - 1] == '\r';
  return both ? end - 1 : end;
}

}  // namespace

const std::array<std::uint64_t, 256> Units::Symbols::kBytes = [] {
  std::array<std::uint64_t, 256> symbols{};
  for (std::size_t i = 0; i < symbols.size(); ++i)
    symbols[i] = sketch::hash_character(static_cast<char32_t>(i));
  return symbols;
}();

Status Units::read(const data::Batch& batch, std::size_t record, std::size_t fields) {
  values_.clear();
  for (std::size_t field = 0; field < fields; ++field)
    values_.push_back(batch.value(field, record));
  const Status done = read(values_);
  if (done.ok()) return done;
  return Error{done.error().code, batch.where(record) + ": " + done.error().message};
}

Status Units::read(std::span<const std::optional<std::string_view>> values) {
  fields_.clear();
  ranges_.clear();
  count_ = 0;
  has_text_ = false;
  text_bytes_ = 0;
  for (const auto& value : values) text_bytes_ += value ? value->size() : 0;
  if (text_bytes_ >= std::numeric_limits<std::uint32_t>::max())
    return Error{Code::kInvalidArgument, "the text has 4 GiB or more (leave this record out)"};
  for (const auto& value : values) {
    has_text_ = has_text_ || value.has_value();
    const std::string_view text = value.value_or(std::string_view());
    const std::uint32_t first = count_;
    // A vector that grows holds its elements three times.
    if (text.size() > kShortText) ranges_.reserve(ranges_.size() + cut_units(text, options_.unit));
    switch (options_.unit) {
      case Unit::kLine: split_lines(text); break;
      case Unit::kParagraph: split_paragraphs(text); break;
      case Unit::kWord: split_words(text); break;
      case Unit::kByte: count_ += static_cast<std::uint32_t>(text.size()); break;
    }
    if (options_.unit != Unit::kByte) count_ = static_cast<std::uint32_t>(ranges_.size());
    fields_.push_back({.text = text, .units = {first, count_}});
  }
  return Done{};
}

void Units::forget() {
  *this = Units(options_, normalization_);
}

std::size_t Units::field_of(std::uint32_t unit) const {
  std::size_t field = 0;
  while (unit >= fields_[field].units.end) ++field;
  return field;
}

ByteRange Units::byte_range(std::uint32_t unit) const {
  const std::uint32_t begin = unit - fields_[field_of(unit)].units.begin;
  return {begin, begin + 1};
}

Units::Symbols Units::symbols(const Field& field) {
  Symbols symbols;
  symbols.bytes_ = field.text.data();
  if (options_.unit == Unit::kByte) return symbols;
  symbols_.resize(field.units.count());
  for (std::uint32_t i = 0; i < field.units.count(); ++i) {
    const ByteRange word = ranges_[field.units.begin + i];
    symbols_[i] = sketch::hash_word(field.text.substr(word.begin, word.end - word.begin));
  }
  symbols.words_ = symbols_.data();
  return symbols;
}

std::string_view Units::text(std::uint32_t unit) {
  const ByteRange at = range(unit);
  const std::string_view raw = fields_[field_of(unit)].text.substr(at.begin, at.end - at.begin);
  if (!options_.by_line()) return raw;
  text::normalize(raw, normalization_, normalized_);
  return normalized_;
}

std::optional<Hash128> Units::key(std::uint32_t unit) {
  const std::string_view normalized = text(unit);
  if (!is_long_enough(normalized)) return {};
  return hash128(normalized);
}

// A blank line, or one without a letter or number, does not count as a repetition.
bool Units::is_long_enough(std::string_view normalized) {
  if (normalized.empty()) return false;
  if (options_.min_in_words) {
    text::split_words(normalized, normalization_, words_);
    return words_.size() >= options_.min_length;
  }
  return utf8_characters(normalized) >= options_.min_length;
}

void Units::split_lines(std::string_view text) {
  if (text.empty()) return;
  for (std::size_t begin = 0;;) {
    const std::size_t end = line_end(text, begin);
    ranges_.push_back({static_cast<std::uint32_t>(begin),
                       static_cast<std::uint32_t>(content_end(text, begin, end))});
    if (end == text.size()) return;
    begin = end + 1;
  }
}

void Units::split_paragraphs(std::string_view text) {
  bool inside = false;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = line_end(text, begin);
    const std::string_view line = text.substr(begin, end - begin);
    const bool blank = std::all_of(line.begin(), line.end(), is_space);
    const auto stop = static_cast<std::uint32_t>(content_end(text, begin, end));
    if (!blank && inside) ranges_.back().end = stop;
    if (!blank && !inside) ranges_.push_back({static_cast<std::uint32_t>(begin), stop});
    inside = !blank;
    begin = end + 1;
  }
}

void Units::split_words(std::string_view text) {
  if (!is_ascii(text)) {
    const bool is_long = text.size() > kShortText;
    if (is_long) words_.reserve(cut_units(text, Unit::kWord));
    text::split_words(text, text::Normalization::kNone, words_);
    for (const std::string_view word : words_) {
      const auto begin = static_cast<std::uint32_t>(word.data() - text.data());
      ranges_.push_back({begin, begin + static_cast<std::uint32_t>(word.size())});
    }
    if (is_long) words_ = std::vector<std::string_view>();
    return;
  }
  const char* const start = text.data();
  const char* const end = start + text.size();
  for (const char* at = start; at != end;) {
    while (at != end && is_space(*at)) ++at;
    const char* const begin = at;
    while (at != end && !is_space(*at)) ++at;
    if (begin == at) return;
    ranges_.push_back(
        {static_cast<std::uint32_t>(begin - start), static_cast<std::uint32_t>(at - start)});
  }
}

}  // namespace kin::dedup
