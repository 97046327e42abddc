#include "embed/files/terms.h"
#include "base/hash.h"

namespace kin::embed::internal {
namespace {

// Words whose keys are remembered. Stemming costs far more than looking a word up.
constexpr std::size_t kKnownWords = 100'000;

}  // namespace

std::uint64_t term_key(std::string_view term) {
  return hash64(term);
}

Result<std::unique_ptr<TermReader>> TermReader::create(std::string_view language) {
  KIN_TRY(text::Stemmer stemmer, text::Stemmer::create(language));
  return std::unique_ptr<TermReader>(new TermReader(std::move(stemmer)));
}

std::uint64_t TermReader::key(std::string_view word) {
  word = text::cut_word(word);
  const auto found = known_.find(word);
  if (found != known_.end()) return found->second;
  text::fold_word(word, folded_);
  const std::uint64_t made = term_key(stemmer_.stem(folded_));
  known_.emplace(word, made);
  return made;
}

void TermReader::read(std::string_view text, std::vector<std::uint64_t>& keys) {
  if (known_.size() > kKnownWords) known_.clear();
  keys.clear();
  text::split_tokens(text, words_);
  for (std::size_t i = 0; i < words_.size(); ++i) {
    const text::Token& word = words_[i];
    keys.push_back(key(text.substr(word.begin, word.end - word.begin)));
    // Scripts without spaces have no words to find: their pairs of characters stand for them.
    if (i + 1 == words_.size() || !text::adjoin(word, words_[i + 1])) continue;
    keys.push_back(key(text.substr(word.begin, words_[i + 1].end - word.begin)));
  }
}

Result<std::unique_ptr<TermReaders>> TermReaders::create(std::string_view language) {
  std::unique_ptr<TermReaders> readers(new TermReaders(language));
  KIN_TRY(std::unique_ptr<TermReader> first, TermReader::create(language));
  readers->give_back(std::move(first));
  return readers;
}

std::unique_ptr<TermReader> TermReaders::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<TermReader> reader = std::move(idle_.back());
      idle_.pop_back();
      return reader;
    }
  }
  // Made outside the lock, so that others need not wait. It cannot fail: create() made one.
  return TermReader::create(language_).value();
}

std::vector<std::vector<float>> TermReaders::embed(std::span<const std::string_view> texts,
                                                   const VectorOf& vector_of) {
  std::unique_ptr<TermReader> reader = take();
  std::vector<std::uint64_t> keys;
  std::vector<std::vector<float>> out;
  out.reserve(texts.size());
  for (const std::string_view text : texts) {
    reader->read(text, keys);
    out.push_back(vector_of(keys));
  }
  give_back(std::move(reader));
  return out;
}

void TermReaders::give_back(std::unique_ptr<TermReader> reader) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(reader));
}

}  // namespace kin::embed::internal
