#include "index/text_analyzer.h"

namespace kin::index {
namespace {

constexpr std::size_t kKnownWords = 100'000;

// Without what separates the parts of a key.
std::string clean(std::string_view value) {
  std::string cleaned(text::cut_word(value));
  for (char& c : cleaned) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  return cleaned;
}

}  // namespace

std::string facet_prefix(std::size_t facet, std::string_view value) {
  std::string folded;
  text::fold_word(clean(value), folded);
  return std::string{kFacetKey, static_cast<char>('A' + facet)} + folded;
}

std::string facet_key(std::size_t facet, std::string_view value) {
  return facet_prefix(facet, value) + kEndOfName + clean(value);
}

FacetOfKey facet_of_key(std::string_view key) {
  const std::size_t end = key.rfind(kEndOfName);
  return {.facet = static_cast<std::size_t>(key[1] - 'A'), .value = key.substr(end + 1)};
}

Result<std::unique_ptr<TextAnalyzer>> TextAnalyzer::create(std::string_view language) {
  KIN_TRY(text::Stemmer stemmer, text::Stemmer::create(language));
  return std::unique_ptr<TextAnalyzer>(new TextAnalyzer(std::move(stemmer)));
}

char TextAnalyzer::form_space() const {
  return stemmer_.leaves_words_alone() ? kStemKey : kFormKey;
}

void TextAnalyzer::forget_if_full() {
  if (known_.size() > kKnownWords) known_.clear();
}

TextAnalyzer::Keys& TextAnalyzer::keys(std::string_view word) {
  word = text::cut_word(word);
  if (const auto found = known_.find(word); found != known_.end()) return *found->second;
  std::unique_ptr<Keys>& keys = known_[std::string(word)];
  text::fold_word(word, folded_);
  keys = std::make_unique<Keys>();
  keys->form = kFormKey + folded_;
  keys->stem = kStemKey + std::string(stemmer_.stem(folded_));
  return *keys;
}

TextToken TextAnalyzer::token(std::string_view text, const text::Token& word,
                              std::uint32_t position) {
  Keys& found = keys(text.substr(word.begin, word.end - word.begin));
  return {.begin = word.begin,
          .end = word.end,
          .position = position,
          .unit = word.unit,
          .stem = &found.stem,
          .form = word.unit || form_space() == kStemKey ? nullptr : &found.form,
          .terms = &found.terms};
}

std::uint32_t TextAnalyzer::document(std::string_view text, std::vector<TextToken>& tokens) {
  forget_if_full();
  tokens.clear();
  text::split_tokens(text, words_);
  for (std::uint32_t i = 0; i < words_.size(); ++i) {
    tokens.push_back(token(text, words_[i], i));
    if (i + 1 == words_.size() || !text::adjoin(words_[i], words_[i + 1])) continue;
    tokens.push_back(
        token(text, {.begin = words_[i].begin, .end = words_[i + 1].end, .unit = true}, i));
    tokens.back().pair = true;
  }
  return static_cast<std::uint32_t>(words_.size());
}

void TextAnalyzer::query(std::string_view text, std::vector<TextToken>& tokens) {
  forget_if_full();
  tokens.clear();
  text::split_tokens(text, words_);
  for (std::uint32_t i = 0; i < words_.size(); ++i) {
    if (i + 1 < words_.size() && text::adjoin(words_[i], words_[i + 1])) {
      tokens.push_back(
          token(text, {.begin = words_[i].begin, .end = words_[i + 1].end, .unit = true}, i));
      tokens.back().pair = true;
    } else if (i == 0 || !text::adjoin(words_[i - 1], words_[i])) {
      tokens.push_back(token(text, words_[i], i));
    }
  }
}

}  // namespace kin::index
