// Stems of words by the Snowball algorithms.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kin::text {

// The supported languages by their English names, sorted.
std::vector<std::string> stem_languages();

// Takes words to their stems: "connections" to "connect". One thread only.
class Stemmer {
 public:
  // `language` is an English name ("german") or an ISO 639 code ("de"); "none" keeps words as they
  // are.
  static Result<Stemmer> create(std::string_view language);

  // The stem of a word in lower case, NFC. Valid until the next call; may be a view of `word`.
  std::string_view stem(std::string_view word);

  bool leaves_words_alone() const { return algorithm_ == nullptr; }

 private:
  struct Release {
    void operator()(void* algorithm) const;
  };
  std::unique_ptr<void, Release> algorithm_;
};

}  // namespace kin::text
