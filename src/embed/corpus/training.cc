#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "base/random.h"
#include "embed/corpus/data.h"
#include "embed/corpus_model.h"
#include "embed/linear/dense.h"

// Randomised subspace iteration (Halko, Martinsson, Tropp 2011) on the matrix of documents and
// terms, orthogonal again after every step.
namespace kin::embed {
namespace {

using internal::Matrix;
using internal::SparseMatrix;
using internal::Square;

// Directions beyond those asked for: a random start finds the weakest of its directions only
// roughly, and these are then dropped.
constexpr std::size_t kOversampling = 20;
// Rarer terms say more than their logarithm gives them credit for; measured on SciFact and CACM.
constexpr double kRarityPower = 1.25;
// Directions weaker than this share of the strongest are rounding.
constexpr double kNoise = 1e-5;

struct Vocabulary {
  std::vector<std::uint64_t> keys;  // ascending
  std::vector<float> weights;       // rarity
};

Vocabulary vocabulary_of(const CorpusSample& sample, std::size_t most_terms) {
  std::unordered_map<std::uint64_t, std::uint32_t> counts;
  for (const auto& document : sample.documents()) {
    for (const auto& term : document) ++counts[term.key];
  }
  // A term of one document relates it to no other.
  std::vector<std::pair<std::uint32_t, std::uint64_t>> terms;
  for (const auto& [key, count] : counts) {
    if (count > 1) terms.emplace_back(count, key);
  }
  // The most frequent terms stay. Ties go by key, not by the order of the hash map.
  std::sort(terms.begin(), terms.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  terms.resize(std::min(terms.size(), most_terms));
  std::sort(terms.begin(), terms.end(),
            [](const auto& a, const auto& b) { return a.second < b.second; });
  Vocabulary out;
  const auto documents = static_cast<double>(sample.size());
  for (const auto& [count, key] : terms) {
    out.keys.push_back(key);
    out.weights.push_back(
        static_cast<float>(std::pow(std::log((documents + 1) / count), kRarityPower)));
  }
  return out;
}

SparseMatrix matrix_of(const CorpusSample& sample, const Vocabulary& vocabulary) {
  SparseMatrix out;
  out.width = vocabulary.keys.size();
  for (const auto& document : sample.documents()) {
    double length = 0;
    // Both lists ascend, so each search begins where the one before ended.
    auto at = vocabulary.keys.begin();
    for (const auto& [key, count] : document) {
      at = std::lower_bound(at, vocabulary.keys.end(), key);
      if (at == vocabulary.keys.end()) break;
      if (*at != key) continue;
      const auto column = static_cast<std::size_t>(at - vocabulary.keys.begin());
      const float value = (1 + std::log(static_cast<float>(count))) * vocabulary.weights[column];
      out.columns.push_back(static_cast<std::uint32_t>(column));
      out.values.push_back(value);
      length += static_cast<double>(value) * value;
    }
    // Rows have length 1, so that a long document counts no more than a short one.
    const auto factor = static_cast<float>(length > 0 ? 1 / std::sqrt(length) : 0);
    for (std::size_t i = out.begins.back(); i < out.values.size(); ++i) out.values[i] *= factor;
    out.begins.push_back(out.values.size());
  }
  return out;
}

Matrix random_matrix(std::size_t rows, std::size_t width, std::uint64_t seed) {
  Random random(seed);
  Matrix out(rows, width);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < width; ++j)
      out.row(i)[j] = static_cast<float>(random.unit() * 2 - 1);
  }
  return out;
}

// The directions of a matrix's columns, strongest first, without noise. Multiplying the matrix by
// `turn` gives the directions, each of length 1.
struct Directions {
  std::vector<double> strengths;
  Matrix turn;
};

// The eigenvectors of the Gram matrix are the right singular vectors of the matrix, and the
// eigenvalues the squares of its singular values.
Directions directions_of(const Matrix& matrix, std::size_t most, int threads) {
  const internal::EigenPairs found = internal::eigen(internal::gram(matrix, threads));
  Directions out;
  for (const double value : found.values) {
    if (out.strengths.size() == most || value <= kNoise * found.values[0]) break;
    out.strengths.push_back(std::sqrt(value));
  }
  out.turn = Matrix(matrix.width(), out.strengths.size());
  for (std::size_t j = 0; j < out.strengths.size(); ++j) {
    for (std::size_t i = 0; i < matrix.width(); ++i)
      out.turn.row(i)[j] = static_cast<float>(found.vectors.at(j, i) / out.strengths[j]);
  }
  return out;
}

// An orthonormal basis of the columns. Without it all columns would turn to the strongest direction
// from step to step.
Matrix orthogonal(const Matrix& matrix, int threads) {
  const Directions found = directions_of(matrix, matrix.width(), threads);
  return internal::multiply(matrix, found.turn, threads);
}

// A row for each term: where it lies in the directions along which documents differ most.
Matrix term_vectors(const SparseMatrix& documents, std::size_t dimension,
                    const CorpusOptions& options) {
  const SparseMatrix terms = documents.transposed();
  const std::size_t width = std::min(documents.rows(), dimension + kOversampling);
  Matrix range =
      orthogonal(internal::multiply(documents, random_matrix(documents.width, width, options.seed),
                                    options.threads),
                 options.threads);
  for (int i = 0; i < options.iterations; ++i) {
    const Matrix back = internal::multiply(terms, range, options.threads);
    range = orthogonal(internal::multiply(documents, back, options.threads), options.threads);
  }
  // The terms as seen from the range: few columns, whose directions are cheap to find.
  const Matrix projected = internal::multiply(terms, range, options.threads);
  const Directions found = directions_of(projected, dimension, options.threads);
  return internal::multiply(projected, found.turn, options.threads);
}

internal::CorpusData quantised(const Matrix& vectors, const Vocabulary& vocabulary) {
  internal::CorpusData out;
  out.dimension = static_cast<std::uint32_t>(vectors.width());
  out.keys = vocabulary.keys;
  for (std::size_t i = 0; i < vectors.rows(); ++i) {
    float most = 0;
    for (std::size_t j = 0; j < vectors.width(); ++j)
      most = std::max(most, std::abs(vectors.row(i)[j]));
    // Each row has a scale of its own: its largest number becomes 127. The weight of the term is
    // part of the scale, so that embedding a text multiplies once for each term.
    const float step = most / 127;
    out.scales.push_back(step * vocabulary.weights[i]);
    for (std::size_t j = 0; j < vectors.width(); ++j) {
      const float whole = step > 0 ? std::nearbyint(vectors.row(i)[j] / step) : 0;
      out.rows.push_back(static_cast<std::int8_t>(std::clamp(whole, -127.0F, 127.0F)));
    }
  }
  return out;
}

}  // namespace

Result<std::shared_ptr<const CorpusModel>> train_corpus_model(const CorpusSample& sample,
                                                              const CorpusOptions& options) {
  if (sample.size() < kFewestDocuments)
    return Error{Code::kFailedPrecondition,
                 fmt::format("training needs at least {} documents with words; there are {}",
                             kFewestDocuments, sample.size())};
  const Vocabulary vocabulary = vocabulary_of(sample, options.most_terms);
  const SparseMatrix documents = matrix_of(sample, vocabulary);
  const std::size_t dimension = std::min<std::size_t>(options.dimension, sample.size() / 2);
  const Matrix vectors = term_vectors(documents, dimension, options);
  internal::CorpusData data = quantised(vectors, vocabulary);
  if (data.dimension == 0)
    return Error{Code::kFailedPrecondition,
                 "the documents share no words, so there is nothing to train on"};
  data.language = sample.options().language;
  data.documents = sample.seen();
  return internal::make_corpus_model(std::move(data));
}

}  // namespace kin::embed
