#include "index/text/analyzer.h"

#include "base/hash.h"

namespace kin::index {
namespace {

// Words whose keys are remembered; beyond that the table is emptied. Texts repeat most of their
// words, and folding and stemming cost far more than a look-up.
constexpr std::size_t kKnownWords = 100'000;
constexpr std::size_t kFirstSlots = 1024;

TextToken token_of(const text::Token& word, std::uint32_t position) {
  return {.begin = word.begin, .end = word.end, .position = position, .unit = word.unit};
}

TextToken pair_of(const text::Token& left, const text::Token& right, std::uint32_t position) {
  return {.begin = left.begin, .end = right.end, .position = position, .pair = true, .unit = true};
}

// Removes the bytes that separate the parts of a key: kEndOfName must not occur in a value.
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
  // The last separator: the original value follows it.
  const std::size_t end = key.rfind(kEndOfName);
  return {.facet = static_cast<std::size_t>(key[1] - 'A'), .value = key.substr(end + 1)};
}

Result<std::unique_ptr<TextAnalyzer>> TextAnalyzer::create(std::string_view language) {
  KIN_TRY(text::Stemmer stemmer, text::Stemmer::create(language));
  return std::unique_ptr<TextAnalyzer>(new TextAnalyzer(std::move(stemmer)));
}

TextAnalyzer::TextAnalyzer(text::Stemmer stemmer)
    : stemmer_(std::move(stemmer)), slots_(kFirstSlots) {}

char TextAnalyzer::form_space() const {
  return stemmer_.leaves_words_alone() ? kStemKey : kFormKey;
}

void TextAnalyzer::forget_if_full() {
  if (known_.size() <= kKnownWords) return;
  known_.clear();
  slots_.assign(kFirstSlots, {});
}

// Linear probing. At least half of the slots are free, so the loop ends soon.
TextAnalyzer::Slot& TextAnalyzer::slot(std::string_view word, std::uint32_t hash) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  while (slots_[at].keys != nullptr && (slots_[at].hash != hash || slots_[at].keys->word != word))
    at = (at + 1) & mask;
  return slots_[at];
}

void TextAnalyzer::grow() {
  slots_.assign(slots_.size() * 2, {});
  for (Keys& keys : known_) {
    const auto hash = static_cast<std::uint32_t>(hash64(keys.word));
    slot(keys.word, hash) = {.keys = &keys, .hash = hash};
  }
}

TextAnalyzer::Keys& TextAnalyzer::keys(std::string_view word, std::uint32_t hash) {
  Slot& found = slot(word, hash);
  if (found.keys != nullptr) return *found.keys;
  text::fold_word(word, folded_);
  Keys& keys = known_.emplace_back(Keys{.word = std::string(word),
                                        .terms = {},
                                        .stem = kStemKey + std::string(stemmer_.stem(folded_)),
                                        .form = kFormKey + folded_});
  // A deque does not move its elements, so slots and tokens may point to them.
  found = {.keys = &keys, .hash = hash};
  if (known_.size() * 2 > slots_.size()) grow();
  return keys;
}

// Words lie scattered in memory: prefetch for later words while an earlier one is read.
void TextAnalyzer::look_up(std::string_view text, std::vector<TextToken>& tokens) {
  constexpr std::size_t kAhead = 8;
  const auto word = [&](const TextToken& token) {
    return text::cut_word(text.substr(token.begin, token.end - token.begin));
  };
  hashes_.clear();
  for (const TextToken& token : tokens) {
    hashes_.push_back(static_cast<std::uint32_t>(hash64(word(token))));
    __builtin_prefetch(&slots_[hashes_.back() & (slots_.size() - 1)]);
  }
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (i + kAhead < tokens.size())
      __builtin_prefetch(slots_[hashes_[i + kAhead] & (slots_.size() - 1)].keys);
    Keys& found = keys(word(tokens[i]), hashes_[i]);
    tokens[i].stem = &found.stem;
    // Characters have no stems, and without stemming the stem is the form.
    tokens[i].form = tokens[i].unit || form_space() == kStemKey ? nullptr : &found.form;
    tokens[i].terms = &found.terms;
  }
}

std::uint32_t TextAnalyzer::document(std::string_view text, std::vector<TextToken>& tokens) {
  forget_if_full();
  tokens.clear();
  text::split_tokens(text, words_);
  for (std::uint32_t i = 0; i < words_.size(); ++i) {
    tokens.push_back(token_of(words_[i], i));
    if (i + 1 < words_.size() && text::adjoin(words_[i], words_[i + 1]))
      tokens.push_back(pair_of(words_[i], words_[i + 1], i));
  }
  look_up(text, tokens);
  return static_cast<std::uint32_t>(words_.size());
}

void TextAnalyzer::query(std::string_view text, std::vector<TextToken>& tokens) {
  forget_if_full();
  tokens.clear();
  text::split_tokens(text, words_);
  for (std::uint32_t i = 0; i < words_.size(); ++i) {
    // Documents have characters and pairs; a query for pairs alone is as good and reads less.
    if (i + 1 < words_.size() && text::adjoin(words_[i], words_[i + 1]))
      tokens.push_back(pair_of(words_[i], words_[i + 1], i));
    else if (i == 0 || !text::adjoin(words_[i - 1], words_[i]))
      tokens.push_back(token_of(words_[i], i));
  }
  look_up(text, tokens);
}

}  // namespace kin::index
