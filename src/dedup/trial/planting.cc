#include "dedup/trial/planting.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/ascii.h"
#include "base/check.h"
#include "text/words.h"

namespace kin::dedup {
namespace {

std::string joined(const std::vector<std::string>& tokens) {
  std::string text;
  for (const std::string& token : tokens) text += token;
  return text;
}

bool ends_sentence(const std::string& token) {
  return token.find_first_of(".!?\n") != std::string::npos || token.find("。") != std::string::npos;
}

void end_with_space(std::string& token) {
  const auto last = static_cast<unsigned char>(token.back());
  if (last < 0x80 && std::isalnum(last) != 0) token += ' ';
}

}  // namespace

std::string_view name_of(Edit edit) {
  switch (edit) {
    case Edit::kReplacements: return "replacements";
    case Edit::kInsertions: return "insertions";
    case Edit::kDeletions: return "deletions";
    case Edit::kHeader: return "header";
    case Edit::kFooter: return "footer";
    case Edit::kOrder: return "order";
    case Edit::kSurface: return "surface";
    case Edit::kTruncation: return "truncation";
    case Edit::kMixture: return "mixture";
  }
  KIN_UNREACHABLE();
}

Planter::Planter(const std::vector<std::string>& texts, const sketch::ShingleOptions& shingles,
                 std::uint64_t seed)
    : texts_(texts), normalization_(shingles.normalization), random_(seed) {
  const double size = shingles.size;
  // Six characters are a word and a space.
  span_ = shingles.unit == sketch::ShingleOptions::Unit::kWord ? size : 1 + size / 6;
}

Planter::Tokens Planter::tokens_of(std::string_view text) const {
  std::vector<std::string_view> words;
  text::split_words(text, normalization_, words);
  Tokens tokens;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const char* begin = i == 0 ? text.data() : words[i].data();
    const char* end = i + 1 < words.size() ? words[i + 1].data() : text.data() + text.size();
    tokens.emplace_back(begin, end);
  }
  return tokens;
}

// Rounds `exact` up or down at random, so that the mean is right; at least 1.
std::size_t Planter::count(double exact) {
  return std::max<std::size_t>(1, static_cast<std::size_t>(exact + random_.unit()));
}

std::string Planter::foreign_word() {
  for (int attempt = 0; attempt < 100; ++attempt) {
    const std::string& text = texts_[random_.below(texts_.size())];
    // A piece of a long text is enough to choose a word from.
    std::size_t begin = random_.below(text.size() + 1);
    while (begin < text.size() && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) ++begin;
    std::size_t end = std::min(text.size(), begin + 64);
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
    const Tokens tokens = tokens_of(std::string_view(text).substr(begin, end - begin));
    // The first and the last may be cut.
    if (tokens.size() >= 3) return tokens[1 + random_.below(tokens.size() - 2)];
  }
  return "kindred ";
}

Planter::Tokens Planter::foreign_passage(std::size_t words) {
  Tokens passage;
  for (int attempt = 0; attempt < 100 && passage.size() < words; ++attempt) {
    for (std::string& token : tokens_of(texts_[random_.below(texts_.size())])) {
      if (passage.size() == words) break;
      passage.push_back(std::move(token));
    }
    if (!passage.empty()) end_with_space(passage.back());
  }
  return passage;
}

// A changed word breaks every shingle that touches it and makes as many new ones, an added or
// dropped word makes one more or less: solved for the number of changes.
void Planter::change_words(Tokens& tokens, Edit edit, double similarity) {
  const double words = static_cast<double>(tokens.size());
  const double broken = edit == Edit::kInsertions ? span_ - 1 : span_;
  const double made = edit == Edit::kDeletions ? span_ - 1 : span_;
  const std::size_t changes = count(words * (1 - similarity) / (broken + similarity * made));
  for (std::size_t i = 0; i < changes && tokens.size() > 1; ++i) {
    const std::size_t at = random_.below(tokens.size());
    if (edit == Edit::kDeletions) {
      tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(at));
      continue;
    }
    std::string word = foreign_word();
    end_with_space(word);
    if (edit == Edit::kInsertions) {
      tokens.insert(tokens.begin() + static_cast<std::ptrdiff_t>(at), std::move(word));
    } else {
      tokens[at] = std::move(word);
    }
  }
}

void Planter::add_passage(Tokens& tokens, Edit edit, double similarity) {
  const double words = static_cast<double>(tokens.size());
  Tokens passage = foreign_passage(count(words * (1 - similarity) / similarity));
  if (edit == Edit::kHeader) {
    tokens.insert(tokens.begin(), passage.begin(), passage.end());
  } else {
    end_with_space(tokens.back());
    tokens.insert(tokens.end(), passage.begin(), passage.end());
  }
}

// Swapping neighbours makes three cuts, each of which breaks all shingles across it; adjacent swaps
// share cuts, which makes it about two.
void Planter::swap_sentences(Tokens& tokens, double similarity) {
  std::vector<std::string> sentences(1);
  for (const std::string& token : tokens) {
    sentences.back() += token;
    if (ends_sentence(token)) sentences.emplace_back();
  }
  if (sentences.back().empty()) sentences.pop_back();
  for (std::string& sentence : sentences) end_with_space(sentence);
  if (sentences.size() < 2) {
    end_with_space(tokens.back());
    const std::size_t cut = 1 + random_.below(tokens.size() - 1);
    std::rotate(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(cut), tokens.end());
    return;
  }
  const double words = static_cast<double>(tokens.size());
  const std::size_t swaps =
      count(words * (1 - similarity) / (2 * std::max(span_ - 1, 1.0) * (1 + similarity)));
  for (std::size_t i = 0; i < swaps; ++i) {
    const std::size_t at = random_.below(sentences.size() - 1);
    std::swap(sentences[at], sentences[at + 1]);
  }
  tokens = std::move(sentences);
}

void Planter::change_surface(Tokens& tokens) {
  for (std::string& token : tokens) {
    switch (random_.below(8)) {
      case 0: std::ranges::transform(token, token.begin(), ascii_upper); break;
      case 1: std::replace(token.begin(), token.end(), '.', '!'); break;
      case 2: std::replace(token.begin(), token.end(), ' ', '\n'); break;
      case 3: std::erase(token, ','); break;
      default: break;
    }
  }
  tokens.back() += " \n";
}

std::string Planter::copy(std::string_view valid_utf8, Edit edit, double similarity) {
  Tokens tokens = tokens_of(valid_utf8);
  if (tokens.size() < 2) return std::string(valid_utf8);
  switch (edit) {
    case Edit::kReplacements:
    case Edit::kInsertions:
    case Edit::kDeletions: change_words(tokens, edit, similarity); break;
    case Edit::kHeader:
    case Edit::kFooter: add_passage(tokens, edit, similarity); break;
    case Edit::kOrder: swap_sentences(tokens, similarity); break;
    case Edit::kSurface: change_surface(tokens); break;
    case Edit::kTruncation:
      tokens.resize(std::max<std::size_t>(
          1, static_cast<std::size_t>(static_cast<double>(tokens.size()) * similarity)));
      break;
    case Edit::kMixture:
      change_words(tokens, Edit::kReplacements, std::sqrt(similarity));
      add_passage(tokens, Edit::kHeader, std::sqrt(similarity));
      break;
  }
  return joined(tokens);
}

}  // namespace kin::dedup
