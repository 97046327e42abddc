// Scores of terms as whole numbers: sums do not depend on their order, so that pruned and
// exhaustive searches, on one shard or several, agree to the last bit. All functions are
// thread-safe.
#pragma once

#include <cmath>
#include <cstdint>

#include "index/text_document.h"

namespace kin::index {

// In 65,536ths. A term that matches scores at least one.
using Score = std::uint64_t;
inline constexpr float kScoreUnit = 65536.0F;
inline constexpr float kHeaviestWeight = 60.0F;  // so that 500 terms add up to less than 2^31
inline constexpr std::size_t kMostSummed = 500;

constexpr double as_number(Score score) {
  return static_cast<double>(score) / kScoreUnit;
}

// The length normalisation of BM25. The index counts lengths and frequencies in quarters of a word.
struct LengthNorm {
  float base = 0;
  float slope = 0;

  static LengthNorm of(const Bm25& ranking, double average_length) {
    const double scale = 4 * ranking.k1;
    return {
        .base = static_cast<float>(scale * (1 - ranking.b)),
        .slope = static_cast<float>(average_length > 0 ? scale * ranking.b / average_length : 0)};
  }
};

inline double inverse_frequency(std::uint64_t documents, std::uint64_t frequency) {
  const auto n = static_cast<double>(documents);
  const auto df = static_cast<double>(frequency < documents ? frequency : documents);
  return std::log(1 + (n - df + 0.5) / (df + 0.5));
}

// The weight of a term in units: the limit of its score as its frequency grows.
inline float term_weight(double inverse, const Bm25& ranking, double factor) {
  const auto weight = static_cast<float>(inverse * (ranking.k1 + 1) * factor);
  return (weight < kHeaviestWeight ? weight : kHeaviestWeight) * kScoreUnit;
}

inline std::uint32_t term_score(float weight, LengthNorm norm, std::uint32_t frequency,
                                std::uint32_t length) {
  const auto tf = static_cast<float>(frequency);
  const float denominator = tf + norm.base + norm.slope * static_cast<float>(length);
  return 1 + static_cast<std::uint32_t>(static_cast<std::int32_t>(weight * tf / denominator));
}

// An upper bound for postings with at most this frequency and at least this length. Rounding can
// be off by a few units at the heaviest weight.
inline std::uint32_t score_bound(float weight, LengthNorm norm, std::uint32_t frequency,
                                 std::uint32_t length) {
  return term_score(weight, norm, frequency, length) + 4;
}

}  // namespace kin::index
