// The documents that a corpus model is trained on, as counts of terms.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/result.h"

namespace kin::embed {

struct SampleOptions {
  std::string language = "english";     // for the stems; see text::Stemmer::create()
  std::size_t most_documents = 50'000;  // of more documents a random sample is kept
  std::uint64_t seed = 1;
};

// Counts the terms of documents as they are added, and keeps the counts of at most `most_documents`
// documents, each with the same probability. The same documents in the same order give the same
// sample. One thread only.
class CorpusSample {
 public:
  // An error if there are no stems for the language.
  static Result<CorpusSample> create(SampleOptions options = {});
  CorpusSample(CorpusSample&&) noexcept;
  CorpusSample& operator=(CorpusSample&&) noexcept;
  ~CorpusSample();

  // Documents without words are counted in seen(), but not kept.
  void add(std::string_view text);

  // How many documents were added, and how many are kept.
  std::size_t seen() const { return seen_; }
  std::size_t size() const { return documents_.size(); }

  struct TermCount {
    std::uint64_t key;
    std::uint32_t count;
  };
  // The terms of each document, in order of their keys.
  using Document = std::vector<TermCount>;
  const std::vector<Document>& documents() const { return documents_; }
  const SampleOptions& options() const { return options_; }

 private:
  struct Reading;
  CorpusSample(SampleOptions options, std::unique_ptr<Reading> reading);

  SampleOptions options_;
  std::unique_ptr<Reading> reading_;
  Random random_;
  std::size_t seen_ = 0;
  std::size_t with_words_ = 0;
  std::vector<Document> documents_;
};

}  // namespace kin::embed
