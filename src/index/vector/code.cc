#include "index/vector/code.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "base/random.h"
#include "index/vector/kernels.h"

namespace kin::index {
namespace {

// The error bound, in standard deviations of the estimate.
constexpr float kDeviations = 1.9F;
// Random directions that stand for residuals: after the rotation these look alike.
constexpr int kSampleVectors = 32;
// Factors around the scale that is best on average; each vector tries all of them.
constexpr std::array kTries{1.0F, 0.86F, 0.93F, 1.07F, 1.15F, 1.25F};

// Box and Muller's transform. 1 - unit() is never 0, which has no logarithm.
double gaussian(Random& random) {
  const double radius = std::sqrt(-2 * std::log(1 - random.unit()));
  return radius * std::cos(6.283185307179586 * random.unit());
}

std::vector<float> random_direction(std::uint32_t dimension, Random& random) {
  std::vector<float> result(dimension);
  double square = 0;
  for (float& value : result) {
    value = static_cast<float>(std::abs(gaussian(random)));
    square += static_cast<double>(value) * value;
  }
  const auto scale = static_cast<float>(1 / std::sqrt(square + 1e-30));
  for (float& value : result) value *= scale;
  return result;
}

}  // namespace

Encoder::Encoder(const VectorSpace& space) : space_(space), more_bits_(space.bits - 1U) {
  if (more_bits_ > 0) find_typical_scale();
}

void Encoder::find_typical_scale() {
  Random random(space_.seed);
  std::vector<std::vector<float>> sample;
  for (int i = 0; i < kSampleVectors; ++i)
    sample.push_back(random_direction(space_.dimension, random));
  // A typical number of a direction is 1 / sqrt(dimension). `spread` says how many times that the
  // highest level stands for; larger numbers are cut off.
  const float levels = static_cast<float>(1U << more_bits_);
  const float unit = levels * std::sqrt(static_cast<float>(space_.dimension));
  double best = -1;
  for (float spread = 1.0F; spread < 6.0F; spread *= 1.04F) {
    double quality = 0;
    for (const auto& vector : sample) quality += measure(vector, unit / spread).quality();
    if (quality <= best) continue;
    best = quality;
    typical_scale_ = unit / spread;
  }
  // The quality is the squared cosine of vector and code; 2 / pi is that of signs alone. The error
  // grows with the tangent of the angle. 1.25 is a margin.
  const double full = best / kSampleVectors;
  const double signs = 2 / 3.141592653589793;
  const double ratio = std::sqrt((1 / std::min(full, 0.999999) - 1) / (1 / signs - 1));
  full_error_ratio_ = static_cast<float>(1.25 * ratio);
}

Encoder::Scaled Encoder::measure(std::span<const float> magnitudes, float scale) const {
  const int most = (1 << more_bits_) - 1;
  float product = 0;
  float square = 0;
  for (const float magnitude : magnitudes) {
    // A level stands for the middle of its interval.
    const int whole = std::min(static_cast<int>(magnitude * scale), most);
    const float value = static_cast<float>(whole) + 0.5F;
    product += value * magnitude;
    square += value * value;
  }
  return {product, square};
}

float Encoder::best_scale(std::span<const float> magnitudes) const {
  double best = -1;
  float chosen = typical_scale_;
  for (const float factor : kTries) {
    const double quality = measure(magnitudes, typical_scale_ * factor).quality();
    if (quality <= best) continue;
    best = quality;
    chosen = typical_scale_ * factor;
  }
  return chosen;
}

void Encoder::pack(std::span<const float> magnitudes, float scale, VectorCode& code) const {
  const int most = (1 << more_bits_) - 1;
  std::size_t bit = 0;
  for (std::size_t i = 0; i < magnitudes.size(); ++i, bit += more_bits_) {
    const int whole = std::min(static_cast<int>(magnitudes[i] * scale), most);
    // Levels of negative numbers count backwards, so that sign and level together are one number.
    const auto value = static_cast<unsigned>(code.signs[i] != 0 ? whole : most - whole);
    const unsigned shifted = value << (bit % 8);
    code.more[bit / 8] |= static_cast<std::uint8_t>(shifted);
    if (shifted > 0xFF) code.more[bit / 8 + 1] |= static_cast<std::uint8_t>(shifted >> 8);
  }
}

// In the notation of the header, x is ±½ in each dimension.
void Encoder::encode(std::span<const float> vector, std::span<const float> centroid,
                     VectorCode& code) const {
  const std::size_t dimension = space_.dimension;
  code.signs.assign(dimension, 0);
  code.more.assign(more_bytes(space_), 0);
  code.factors = {};
  std::vector<float> magnitudes(dimension);
  double square = 0;
  double sum = 0;
  double centroid_signs = 0;    // <c, x>
  double centroid_product = 0;  // <c, o>
  for (std::size_t i = 0; i < dimension; ++i) {
    const float o = vector[i] - centroid[i];
    code.signs[i] = o >= 0 ? 1 : 0;
    magnitudes[i] = std::abs(o);
    square += static_cast<double>(o) * o;
    sum += magnitudes[i];
    centroid_signs += o >= 0 ? 0.5 * centroid[i] : -0.5 * centroid[i];
    centroid_product += static_cast<double>(centroid[i]) * o;
  }
  code.square = static_cast<float>(square);
  // For products the distance is -<q, c> - <c, o> - <q - c, o>, for the others it is
  // |q - c|² + |o|² - 2 <q - c, o>. The first term is the query's, the second the constant.
  const bool products = space_.distance == Distance::kDot;
  const double weight = products ? 1 : 2;
  const double constant = products ? -centroid_product : square;
  CodeFactors& factors = code.factors;
  factors.add = factors.full_add = static_cast<float>(constant);
  if (sum < 1e-20) return;  // the vector is the centroid: nothing to estimate

  const double rescale = weight * square / (sum / 2);
  factors.rescale = factors.full_rescale = static_cast<float>(-rescale);
  factors.add = factors.full_add = static_cast<float>(constant + rescale * centroid_signs);
  const auto size = static_cast<double>(dimension);
  // The cosine of the angle between the code's point and o. RaBitQ's error is its tangent over the
  // root of the dimensions.
  const double cosine = sum / std::sqrt(square * size);
  const double off = std::max(0.0, 1 / (cosine * cosine) - 1) / std::max(1.0, size - 1);
  factors.error = static_cast<float>(weight * kDeviations * std::sqrt(square * off));
  if (more_bits_ > 0) encode_more(magnitudes, centroid, {square, weight, constant}, code);
}

void Encoder::encode_more(std::vector<float>& magnitudes, std::span<const float> centroid,
                          const Constants& constants, VectorCode& code) const {
  const auto norm = static_cast<float>(std::sqrt(constants.square));
  for (float& magnitude : magnitudes) magnitude /= norm;  // scales are for directions
  const float scale = best_scale(magnitudes);
  pack(magnitudes, scale, code);
  const int most = (1 << more_bits_) - 1;
  double centroid_full = 0;
  for (std::size_t i = 0; i < magnitudes.size(); ++i) {
    const double value = std::min(static_cast<int>(magnitudes[i] * scale), most) + 0.5;
    centroid_full += (code.signs[i] != 0 ? value : -value) * centroid[i];
  }
  const double rescale =
      constants.weight * constants.square / (measure(magnitudes, scale).product * norm);
  code.factors.full_rescale = static_cast<float>(-rescale);
  code.factors.full_add = static_cast<float>(constants.constant + rescale * centroid_full);
}

QueryCode::QueryCode(const VectorSpace& space, std::vector<float> query)
    : rotated(std::move(query)) {
  rotated.resize(internal::padded_dimension(space.dimension), 0.0F);
  const std::size_t groups = internal::sign_groups(space.dimension);
  low_table.resize(16 * groups);
  high_table.resize(16 * groups);
  std::vector<float> entries(16 * groups);
  // Four dimensions have 16 combinations of signs: their sums are looked up instead of computed.
  float widest = 1e-30F;  // above 0, because it is divided by
  for (std::size_t g = 0; g < groups; ++g) {
    const float* at = rotated.data() + 4 * g;
    float least = 0;
    float range = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      least += std::min(at[i], 0.0F);
      range += std::abs(at[i]);
      sum += at[i];
      square += at[i] * at[i];
    }
    float* entry = entries.data() + 16 * g;
    // Entries are shifted to be at least 0. Each adds its lowest bit to the entry without it.
    entry[0] = -least;
    for (std::size_t n = 1; n < 16; ++n)
      entry[n] = entry[n & (n - 1)] + at[static_cast<std::size_t>(std::countr_zero(n))];
    offset += least;
    widest = std::max(widest, range);
  }
  // All groups have one step, so that sums of whole numbers can be scaled at the end. Low and high
  // bytes are apart, because a shuffle looks up bytes.
  step = widest / 65535.0F;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto whole = static_cast<std::uint32_t>(std::max(0.0F, entries[i] / step + 0.5F));
    const std::uint32_t value = std::min(whole, 65535U);
    low_table[i] = static_cast<std::uint8_t>(value);
    high_table[i] = static_cast<std::uint8_t>(value >> 8);
  }
  offset -= sum / 2;  // bits are 0 or 1, and x is -½ or ½
}

}  // namespace kin::index
