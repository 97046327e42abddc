// Latent semantic vectors: what words mean by the company they keep in the documents at hand.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "embed/corpus/sample.h"
#include "embed/embedder.h"

namespace kin::embed {

struct CorpusOptions {
  std::uint32_t dimension = 300;     // fewer where there are fewer than twice as many documents
  std::size_t most_terms = 200'000;  // those in the most documents
  // Steps towards the exact directions. More of them find documents no better (measured); none
  // leaves too much to chance.
  int iterations = 1;
  std::uint64_t seed = 1;
  int threads = 1;  // how fast, not what
};

// The fewest documents a model can be trained on.
inline constexpr std::size_t kFewestDocuments = 8;

// A text's vector is the sum of its terms' rows, each by how often the term occurs (dampened) and
// how rare it is in the documents. Thread-safe.
class CorpusModel : public Embedder {
 public:
  // The bytes of a model, and the model of bytes; kDataLoss if they are none. A decoded model gives
  // the vectors of the one that was encoded, to the last bit.
  virtual std::string encode() const = 0;
  static Result<std::shared_ptr<const CorpusModel>> decode(std::string_view bytes);

  // How many documents there were when it was trained, whether or not it learnt from each.
  virtual std::uint64_t documents() const = 0;
  // The share of terms that the model does not know, from 0 to 1; 0 if the texts have no terms. A
  // term counts once for each text that has it. A few per cent of a model's own documents are
  // unknown to it, too: terms that only one document has.
  virtual double unknown_share(std::span<const std::string_view> texts) const = 0;
  // Memory held, in bytes.
  virtual std::size_t memory() const = 0;
};

// A model of the sample's documents: the same sample, options and machine type give the same
// bytes. An error (kFailedPrecondition) if there are too few documents, or they share no terms.
Result<std::shared_ptr<const CorpusModel>> train_corpus_model(const CorpusSample& sample,
                                                              const CorpusOptions& options = {});

}  // namespace kin::embed
