#include "app/dedup/passages_print.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "app/print.h"
#include "base/result.h"
#include "text/words.h"

namespace kin::app {

using dedup::Passage;

namespace {

std::string shortened(const std::string& text, bool full) {
  constexpr std::size_t kEnds = 8;
  std::vector<std::string_view> words;
  text::split_words(text, text::Normalization::kStandard, words);
  if (full || words.size() <= 2 * kEnds + 4) return text;
  const std::string_view all(text);
  const auto begin =
      static_cast<std::size_t>(words[kEnds - 1].data() - text.data()) + words[kEnds - 1].size();
  const auto end = static_cast<std::size_t>(words[words.size() - kEnds].data() - text.data());
  return fmt::format("{} … {}", all.substr(0, begin), all.substr(end));
}

// The text without the white space at its end, and that white space.
std::pair<std::string_view, std::string_view> split_end(std::string_view text) {
  const std::size_t last = text.find_last_not_of(" \t\r\n");
  const std::size_t end = last == std::string_view::npos ? 0 : last + 1;
  return {text.substr(0, end), text.substr(end)};
}

}  // namespace

std::string format_passages(const std::vector<Passage>& passages, bool full) {
  const bool colours = wants_colours();
  std::string text;
  for (const Passage& passage : passages) {
    const auto [words, space] = split_end(passage.text);
    switch (passage.kind) {
      case Passage::Kind::kShared: text += shortened(passage.text, full); break;
      case Passage::Kind::kOnlyA:
        text += colours ? fmt::format("\033[31m[-{}-]\033[0m{}", words, space)
                        : fmt::format("[-{}-]{}", words, space);
        break;
      case Passage::Kind::kOnlyB:
        text += colours ? fmt::format("\033[32m{{+{}+}}\033[0m{}", words, space)
                        : fmt::format("{{+{}+}}{}", words, space);
        break;
    }
    if (space.empty() && !text.empty() && text.back() != ' ') text += ' ';
  }
  return text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
}

const char* kind_name(Passage::Kind kind) {
  switch (kind) {
    case Passage::Kind::kShared: return "shared";
    case Passage::Kind::kOnlyA: return "only_a";
    case Passage::Kind::kOnlyB: return "only_b";
  }
  KIN_UNREACHABLE();
}

}  // namespace kin::app
