// Latent semantic vectors, trained on the documents of an index: words that occur in similar
// documents have similar vectors.
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
  std::uint32_t dimension = 300;     // at most half the number of documents
  std::size_t most_terms = 200'000;  // the terms that occur in the most documents are kept
  // Steps of subspace iteration. More than one does not improve search (measured on SciFact and
  // CACM); none is too inexact.
  int iterations = 1;
  std::uint64_t seed = 1;
  int threads = 1;  // do not change the result
};

// The fewest documents a model can be trained on.
inline constexpr std::size_t kFewestDocuments = 8;

// A text's vector is the sum of its terms' rows, weighted by how often the term occurs (dampened)
// and how rare it is in the documents. Thread-safe.
class CorpusModel : public Embedder {
 public:
  // A decoded model gives exactly the vectors of the encoded one. kDataLoss if the bytes are not a
  // model.
  virtual std::string encode() const = 0;
  static Result<std::shared_ptr<const CorpusModel>> decode(std::string_view bytes);

  // How many documents there were when it was trained, with those not in the sample.
  virtual std::uint64_t documents() const = 0;
  // The share of terms that the model does not know, from 0 to 1; 0 if the texts have no terms. A
  // term counts once for each text that has it. A few per cent of a model's own documents are
  // unknown to it, too: terms that only one document has.
  virtual double unknown_share(std::span<const std::string_view> texts) const = 0;
  // Bytes of memory in use.
  virtual std::size_t memory() const = 0;
};

// Trains a model. The same sample and options give the same bytes on machines of one type.
// kFailedPrecondition if there are too few documents or they share no terms.
Result<std::shared_ptr<const CorpusModel>> train_corpus_model(const CorpusSample& sample,
                                                              const CorpusOptions& options = {});

}  // namespace kin::embed
