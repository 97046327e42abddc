// The terms of a text, as hashes: words folded and stemmed as in a search index.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "text/stems.h"
#include "text/tokens.h"

namespace kin::embed::internal {

// Version of the rules that make terms. It is part of every model file and of its hash.
inline constexpr std::uint16_t kTermsVersion = 1;

// The key of a folded word, or of its stem.
std::uint64_t term_key(std::string_view term);

// One thread only.
class TermReader {
 public:
  // `language`: see text::Stemmer::create(). With "none" words are folded and not stemmed.
  static Result<std::unique_ptr<TermReader>> create(std::string_view language);

  // Replaces `keys` by the keys of the text's terms, in order and with repetitions: words and, for
  // scripts without spaces, characters and pairs of characters.
  void read(std::string_view text, std::vector<std::uint64_t>& keys);

 private:
  struct ViewHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view word) const {
      return std::hash<std::string_view>()(word);
    }
  };

  explicit TermReader(text::Stemmer stemmer) : stemmer_(std::move(stemmer)) {}
  std::uint64_t key(std::string_view word);

  text::Stemmer stemmer_;
  std::unordered_map<std::string, std::uint64_t, ViewHash, std::equal_to<>> known_;
  std::vector<text::Token> words_;
  std::string folded_;
};

// A pool of readers of one language, so that many threads can read. Thread-safe.
class TermReaders {
 public:
  static Result<std::unique_ptr<TermReaders>> create(std::string_view language);

  // The vectors that `vector_of` makes of the keys of each text, in order. It may change the keys.
  using VectorOf = std::function<std::vector<float>(std::vector<std::uint64_t>& keys)>;
  std::vector<std::vector<float>> embed(std::span<const std::string_view> texts,
                                        const VectorOf& vector_of);

 private:
  std::unique_ptr<TermReader> take();
  explicit TermReaders(std::string_view language) : language_(language) {}
  void give_back(std::unique_ptr<TermReader> reader);

  const std::string language_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<TermReader>> idle_;
};

}  // namespace kin::embed::internal
