#include "dedup/testing/cut_reference.h"

#include <algorithm>
#include <array>
#include <map>

#include "text/reference.h"
#include "text/words.h"

namespace kin::dedup {
namespace {

using Unit = CutOptions::Unit;

std::vector<ReferenceUnit> split_lines(const std::string& text) {
  std::vector<ReferenceUnit> lines;
  if (text.empty()) return lines;
  std::size_t begin = 0;
  while (true) {
    const std::size_t feed = text.find('\n', begin);
    if (feed == std::string::npos) {
      lines.push_back({begin, text.size(), {}});
      return lines;
    }
    std::size_t end = feed;
    if (end > begin && text[end - 1] == '\r') --end;
    lines.push_back({begin, end, {}});
    begin = feed + 1;
  }
}

std::vector<ReferenceUnit> split_paragraphs(const std::string& text) {
  std::vector<ReferenceUnit> paragraphs;
  bool open = false;
  for (const ReferenceUnit& line : split_lines(text)) {
    const bool blank =
        is_blank_reference(std::string_view(text).substr(line.begin, line.end - line.begin));
    if (!blank && open) paragraphs.back().end = line.end;
    if (!blank && !open) paragraphs.push_back(line);
    open = !blank;
  }
  return paragraphs;
}

struct ReferenceField {
  std::vector<ReferenceUnit> units;
  std::vector<bool> repeated;
  std::vector<bool> stays;
};

// The text without the units that are repeated and do not stay.
std::string without(const std::string& text, const ReferenceField& field, const CutOptions& cut) {
  const auto gone = [&](std::size_t i) { return field.repeated[i] && !field.stays[i]; };
  std::string left;
  std::size_t from = 0;
  const auto& units = field.units;
  for (std::size_t i = 0; i < units.size();) {
    if (!gone(i)) {
      ++i;
      continue;
    }
    std::size_t j = i;
    while (j < units.size() && gone(j)) ++j;
    std::size_t begin = units[i].begin;
    std::size_t end = units[j - 1].end;
    if (cut.unit == Unit::kByte) {
      while (begin < text.size() && (text[begin] & 0xC0) == 0x80) ++begin;
      while (end < text.size() && end > 0 && (text[end] & 0xC0) == 0x80) --end;
      end = std::max(begin, end);
    } else {
      const std::size_t before = i > 0 ? units[i - 1].end : begin;
      const std::size_t behind = j < units.size() ? units[j].begin : end;
      const auto breaks = [&](std::size_t a, std::size_t b) {
        return std::count(text.begin() + static_cast<std::ptrdiff_t>(a),
                          text.begin() + static_cast<std::ptrdiff_t>(b), '\n');
      };
      const bool keep_behind = j == units.size() || (!cut.by_line() && i > 0 &&
                                                     breaks(end, behind) > breaks(before, begin));
      if (keep_behind) {
        begin = before;
      } else {
        end = behind;
      }
    }
    left += text.substr(from, begin - from);
    from = end;
    i = j;
  }
  return left + text.substr(from);
}

}  // namespace

bool is_blank_reference(std::string_view text) {
  return text.find_first_not_of(" \t\n\v\f\r") == std::string_view::npos;
}

std::vector<ReferenceUnit> split_reference(const std::string& text, const DedupOptions& options) {
  const CutOptions& cut = *options.cut;
  std::vector<ReferenceUnit> units;
  if (cut.unit == Unit::kByte) {
    for (std::size_t i = 0; i < text.size(); ++i) units.push_back({i, i + 1, text.substr(i, 1)});
  } else if (cut.unit == Unit::kWord) {
    std::vector<std::string_view> words;
    text::split_words(text, text::Normalization::kNone, words);
    for (const std::string_view word : words) {
      const auto begin = static_cast<std::size_t>(word.data() - text.data());
      units.push_back({begin, begin + word.size(), std::string(word)});
    }
  } else {
    units = cut.unit == Unit::kLine ? split_lines(text) : split_paragraphs(text);
    for (ReferenceUnit& unit : units) {
      unit.text = text::normalize_reference(text.substr(unit.begin, unit.end - unit.begin),
                                            options.shingles.normalization);
      std::vector<std::string_view> words;
      text::split_words(unit.text, options.shingles.normalization, words);
      std::size_t characters = 0;
      for (const char c : unit.text) characters += (c & 0xC0) != 0x80 ? 1 : 0;
      unit.compared =
          !unit.text.empty() && (cut.min_in_words ? words.size() : characters) >= cut.min_length;
    }
  }
  return units;
}

// The rest of each record; nothing for an emptied one.
std::vector<std::optional<Texts>> cut_by_brute_force(const Corpus& corpus,
                                                     const DedupOptions& options) {
  const CutOptions& cut = *options.cut;
  std::vector<std::vector<ReferenceField>> records;
  std::map<std::vector<std::string>, std::vector<std::array<std::size_t, 3>>> windows;
  for (std::size_t r = 0; r < corpus.size(); ++r) {
    records.emplace_back();
    for (std::size_t f = 0; f < corpus[r].size(); ++f) {
      ReferenceField field;
      field.units = split_reference(corpus[r][f].value_or(""), options);
      field.repeated.resize(field.units.size());
      field.stays.resize(field.units.size());
      for (std::size_t i = 0; i + cut.length <= field.units.size(); ++i) {
        std::vector<std::string> window;
        bool compared = true;
        for (std::size_t k = 0; k < cut.length; ++k) {
          window.push_back(field.units[i + k].text);
          compared = compared && field.units[i + k].compared;
        }
        if (compared) windows[window].push_back({r, f, i});
      }
      records.back().push_back(std::move(field));
    }
  }
  for (const auto& [window, places] : windows) {
    if (places.size() < cut.repeats) continue;
    for (std::size_t n = 0; n < places.size(); ++n) {
      const auto [r, f, i] = places[n];
      auto& marks = n == 0 && cut.keep_first ? records[r][f].stays : records[r][f].repeated;
      for (std::size_t k = 0; k < cut.length; ++k) marks[i + k] = true;
    }
  }
  std::vector<std::optional<Texts>> results;
  for (std::size_t r = 0; r < corpus.size(); ++r) {
    Texts left = corpus[r];
    bool blank = true;
    for (std::size_t f = 0; f < left.size(); ++f) {
      if (left[f]) left[f] = without(*left[f], records[r][f], cut);
      blank = blank && is_blank_reference(left[f].value_or(""));
    }
    if (blank && left != corpus[r]) {
      results.emplace_back();
    } else {
      results.emplace_back(std::move(left));
    }
  }
  return results;
}

}  // namespace kin::dedup
