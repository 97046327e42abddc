#include "dedup/trial/passages.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "base/hash.h"
#include "text/words.h"

namespace kin::dedup {
namespace {

// Up to this many pairs of words are compared in a table; beyond it, anchors cut the texts first.
constexpr std::size_t kTableCells = std::size_t{1} << 20;
constexpr int kDeepest = 64;
// Longer texts that differ in no more words than this are compared by their differences.
constexpr std::ptrdiff_t kFewDifferences = 256;
// A shared run this short between longer differences is a coincidence ("of the").
constexpr std::size_t kCoincidence = 2;

using Numbers = std::unordered_map<std::string, std::uint32_t>;

struct Words {
  std::vector<std::string_view> texts;  // each with what follows it; together the whole text
  std::vector<std::uint32_t> numbers;   // equal for equal words
};

Words words_of(std::string_view text, text::Normalization preset, Numbers& numbers) {
  std::vector<std::string_view> found;
  text::split_words(text, preset, found);
  Words words;
  std::string normalized;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const char* begin = i == 0 ? text.data() : found[i].data();
    const char* end = i + 1 < found.size() ? found[i + 1].data() : text.data() + text.size();
    words.texts.emplace_back(begin, static_cast<std::size_t>(end - begin));
    text::normalize(found[i], preset, normalized);
    words.numbers.push_back(
        numbers.try_emplace(normalized, static_cast<std::uint32_t>(numbers.size())).first->second);
  }
  return words;
}

struct Range {
  std::size_t begin;
  std::size_t end;
  std::size_t size() const { return end - begin; }
};

// Finds a long common subsequence of two lists of words, preferably of adjacent words.
class Matcher {
 public:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  Matcher(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b)
      : a_(a), b_(b), partner_(a.size(), kNone) {}

  // For each word of a, its place in b, or kNone.
  std::vector<std::size_t> match() {
    match({0, a_.size()}, {0, b_.size()}, 0);
    return std::move(partner_);
  }

 private:
  struct Anchor {
    std::size_t a;
    std::size_t b;
  };

  void match(Range a, Range b, int depth) {
    for (; a.size() > 0 && b.size() > 0 && a_[a.begin] == b_[b.begin]; ++a.begin, ++b.begin)
      partner_[a.begin] = b.begin;
    for (; a.size() > 0 && b.size() > 0 && a_[a.end - 1] == b_[b.end - 1]; --a.end, --b.end)
      partner_[a.end - 1] = b.end - 1;
    if (a.size() == 0 || b.size() == 0) return;
    if (a.size() <= kTableCells / b.size()) return match_by_table(a, b);
    if (match_by_differences(a, b) || depth == kDeepest) return;
    for (const std::size_t length : {std::size_t{5}, std::size_t{2}, std::size_t{1}}) {
      const std::vector<Anchor> anchors = anchors_of(a, b, length);
      if (!anchors.empty()) return match_between(a, b, anchors, depth + 1);
    }
  }

  void match_between(Range a, Range b, const std::vector<Anchor>& anchors, int depth) {
    for (const Anchor& anchor : anchors) {
      match({a.begin, anchor.a}, {b.begin, anchor.b}, depth);
      partner_[anchor.a] = anchor.b;
      a.begin = anchor.a + 1;
      b.begin = anchor.b + 1;
    }
    match(a, b, depth);
  }

  void match_by_table(Range a, Range b) {
    const std::size_t width = b.size() + 1;
    std::vector<std::uint32_t> longest((a.size() + 1) * width);
    for (std::size_t i = a.size(); i-- > 0;) {
      for (std::size_t j = b.size(); j-- > 0;) {
        longest[i * width + j] =
            a_[a.begin + i] == b_[b.begin + j]
                ? longest[(i + 1) * width + j + 1] + 1
                : std::max(longest[(i + 1) * width + j], longest[i * width + j + 1]);
      }
    }
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
      if (a_[a.begin + i] == b_[b.begin + j]) {
        partner_[a.begin + i++] = b.begin + j++;
      } else if (longest[(i + 1) * width + j] >= longest[i * width + j + 1]) {
        ++i;
      } else {
        ++j;
      }
    }
  }

  // Myers' greedy algorithm: the fewest differences. False, without any effect, if there are many.
  bool match_by_differences(Range a, Range b) {
    constexpr std::ptrdiff_t kWidth = 2 * kFewDifferences + 3;
    const auto size_a = static_cast<std::ptrdiff_t>(a.size());
    const auto size_b = static_cast<std::ptrdiff_t>(b.size());
    // reached[diagonal]: the furthest position in a on it; one copy for each number of differences.
    std::vector<std::ptrdiff_t> reached(kWidth, -1);
    std::vector<std::vector<std::ptrdiff_t>> history;
    const auto at = [](std::ptrdiff_t diagonal) {
      return static_cast<std::size_t>(diagonal + kFewDifferences + 1);
    };
    reached[at(1)] = 0;
    for (std::ptrdiff_t differences = 0; differences <= kFewDifferences; ++differences) {
      history.push_back(reached);
      for (std::ptrdiff_t k = -differences; k <= differences; k += 2) {
        std::ptrdiff_t x = comes_from_above(reached, at(k), k, differences)
                               ? reached[at(k + 1)]
                               : reached[at(k - 1)] + 1;
        while (x < size_a && x - k < size_b && same(a, x, b, x - k)) ++x;
        reached[at(k)] = x;
        if (x < size_a || x - k < size_b) continue;
        walk_back(a, b, history);
        return true;
      }
    }
    return false;
  }

  static bool comes_from_above(const std::vector<std::ptrdiff_t>& reached, std::size_t place,
                               std::ptrdiff_t diagonal, std::ptrdiff_t differences) {
    return diagonal == -differences ||
           (diagonal != differences && reached[place - 1] < reached[place + 1]);
  }

  bool same(Range a, std::ptrdiff_t x, Range b, std::ptrdiff_t y) const {
    return a_[a.begin + static_cast<std::size_t>(x)] == b_[b.begin + static_cast<std::size_t>(y)];
  }

  void walk_back(Range a, Range b, const std::vector<std::vector<std::ptrdiff_t>>& history) {
    auto x = static_cast<std::ptrdiff_t>(a.size());
    auto y = static_cast<std::ptrdiff_t>(b.size());
    for (auto differences = static_cast<std::ptrdiff_t>(history.size()) - 1; differences >= 0;
         --differences) {
      const auto& reached = history[static_cast<std::size_t>(differences)];
      const std::ptrdiff_t diagonal = x - y;
      const auto place = static_cast<std::size_t>(diagonal + kFewDifferences + 1);
      const bool above = comes_from_above(reached, place, diagonal, differences);
      const std::ptrdiff_t before_x = differences == 0 ? 0 : reached[above ? place + 1 : place - 1];
      const std::ptrdiff_t before_y =
          differences == 0 ? 0 : before_x - (above ? diagonal + 1 : diagonal - 1);
      while (x > before_x && y > before_y) {
        --x;
        --y;
        partner_[a.begin + static_cast<std::size_t>(x)] = b.begin + static_cast<std::size_t>(y);
      }
      x = before_x;
      y = before_y;
    }
  }

  // Runs of `length` words that occur once in each range: as many as possible that are in the same
  // order in both.
  std::vector<Anchor> anchors_of(Range a, Range b, std::size_t length) const {
    if (a.size() < length || b.size() < length) return {};
    const auto places_a = unique_runs(a_, a, length);
    const auto places_b = unique_runs(b_, b, length);
    std::vector<Anchor> both;
    for (const auto& [run, place] : places_a) {
      const auto other = places_b.find(run);
      if (place == kNone || other == places_b.end() || other->second == kNone) continue;
      // A run is found by its hash, so the words themselves are compared.
      if (a_[place] == b_[other->second]) both.push_back({place, other->second});
    }
    std::sort(both.begin(), both.end(), [](const Anchor& x, const Anchor& y) { return x.a < y.a; });
    return longest_ascending(both);
  }

  static std::unordered_map<std::uint64_t, std::size_t> unique_runs(
      const std::vector<std::uint32_t>& words, Range range, std::size_t length) {
    std::unordered_map<std::uint64_t, std::size_t> places;
    for (std::size_t at = range.begin; at + length <= range.end; ++at) {
      std::uint64_t run = 0;
      for (std::size_t i = 0; i < length; ++i) run = mix64(run ^ words[at + i]) + i;
      const auto [entry, added] = places.try_emplace(run, at);
      if (!added) entry->second = kNone;
    }
    return places;
  }

  static std::vector<Anchor> longest_ascending(const std::vector<Anchor>& anchors) {
    std::vector<std::size_t> ends;  // by length: the anchor that ends the best list of that length
    std::vector<std::size_t> before(anchors.size(), kNone);
    for (std::size_t i = 0; i < anchors.size(); ++i) {
      const auto at = std::lower_bound(
          ends.begin(), ends.end(), anchors[i].b,
          [&](std::size_t other, std::size_t place) { return anchors[other].b < place; });
      if (at != ends.begin()) before[i] = *(at - 1);
      if (at == ends.end()) {
        ends.push_back(i);
      } else {
        *at = i;
      }
    }
    std::vector<Anchor> list;
    for (std::size_t i = ends.empty() ? kNone : ends.back(); i != kNone; i = before[i])
      list.push_back(anchors[i]);
    std::reverse(list.begin(), list.end());
    return list;
  }

  const std::vector<std::uint32_t>& a_;
  const std::vector<std::uint32_t>& b_;
  std::vector<std::size_t> partner_;
};

// A difference and the shared words after it.
struct Step {
  Range only_a;
  Range only_b;
  std::size_t shared = 0;

  std::size_t different() const { return only_a.size() + only_b.size(); }
};

std::vector<Step> steps_of(const std::vector<std::size_t>& partner, std::size_t words_of_b) {
  std::vector<Step> steps;
  std::size_t a = 0;
  std::size_t b = 0;
  while (a < partner.size() || b < words_of_b) {
    Step step{.only_a = {a, a}, .only_b = {b, b}};
    while (a < partner.size() && partner[a] == Matcher::kNone) ++a;
    step.only_a.end = a;
    step.only_b.end = a < partner.size() ? partner[a] : words_of_b;
    b = step.only_b.end;
    for (; a < partner.size() && partner[a] == b; ++a, ++b) ++step.shared;
    steps.push_back(step);
  }
  return steps;
}

// Removes shared runs that are coincidences.
std::vector<Step> without_coincidences(const std::vector<Step>& steps) {
  std::vector<Step> result;
  for (const Step& step : steps) {
    if (!result.empty()) {
      Step& last = result.back();
      const bool coincidence = last.shared <= kCoincidence && last.different() > 2 * kCoincidence &&
                               step.different() > 2 * kCoincidence;
      if (coincidence) {
        last.only_a.end = step.only_a.end;
        last.only_b.end = step.only_b.end;
        last.shared = step.shared;
        continue;
      }
    }
    result.push_back(step);
  }
  return result;
}

void add_passage(std::vector<Passage>& passages, Passage::Kind kind, const Words& words,
                 Range range) {
  if (range.size() == 0) return;
  std::string text;
  for (std::size_t i = range.begin; i < range.end; ++i) text += words.texts[i];
  passages.push_back({.kind = kind, .text = std::move(text), .words = range.size()});
}

}  // namespace

std::vector<Passage> compare_words(std::string_view a, std::string_view b,
                                   text::Normalization preset) {
  Numbers numbers;
  const Words words_a = words_of(a, preset, numbers);
  const Words words_b = words_of(b, preset, numbers);
  const std::vector<std::size_t> partner = Matcher(words_a.numbers, words_b.numbers).match();
  std::vector<Passage> passages;
  for (const Step& step : without_coincidences(steps_of(partner, words_b.numbers.size()))) {
    add_passage(passages, Passage::Kind::kOnlyA, words_a, step.only_a);
    add_passage(passages, Passage::Kind::kOnlyB, words_b, step.only_b);
    add_passage(passages, Passage::Kind::kShared, words_a,
                {step.only_a.end, step.only_a.end + step.shared});
  }
  return passages;
}

}  // namespace kin::dedup
