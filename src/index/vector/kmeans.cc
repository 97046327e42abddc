#include "index/vector/kmeans.h"

#include <algorithm>
#include <numeric>

#include "base/breath.h"
#include "base/check.h"
#include "base/random.h"
#include "index/vector/kernels.h"

namespace kin::index {
namespace {

constexpr int kMostRounds = 12;  // for points that keep changing their centre
// Stop when fewer than one in this many points changes its centre.
constexpr std::size_t kFewChanges = 200;

}  // namespace

Matrix::Matrix(std::size_t columns)
    : columns_(columns), stride_(internal::padded_dimension(columns)) {}

void Matrix::add(std::span<const float> row) {
  values_.insert(values_.end(), row.begin(), row.begin() + static_cast<std::ptrdiff_t>(columns_));
  values_.resize(values_.size() + stride_ - columns_);
}

Centres::Centres(Matrix matrix) : matrix_(std::move(matrix)), squares_(matrix_.rows()) {
  for (std::size_t i = 0; i < squares_.size(); ++i) {
    const auto row = matrix_.row(i);
    squares_[i] = internal::dot(row.data(), row.data(), row.size());
  }
}

void Centres::distances(const float* vector, std::span<float> out) const {
  products(vector, out);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = squares_[i] - 2 * out[i];
}

void Centres::products(const float* vector, std::span<float> out) const {
  internal::dot_rows(vector, matrix_.data(), matrix_.stride(), out);
}

std::uint32_t Centres::nearest(const float* vector, std::vector<float>& scratch) const {
  scratch.resize(size());
  distances(vector, scratch);
  return static_cast<std::uint32_t>(std::ranges::min_element(scratch) - scratch.begin());
}

KMeans::KMeans(Matrix points, std::size_t centres, std::uint64_t seed)
    : points_(std::move(points)),
      centres_(points_.columns()),
      owner_(points_.rows(), ~0U),
      seed_(seed) {
  KIN_CHECK(centres >= 1 && centres <= points_.rows(), "more centres than points");
  std::vector<std::uint32_t> order(points_.rows());
  std::iota(order.begin(), order.end(), 0U);
  Random random(seed);
  // The first steps of a Fisher-Yates shuffle: the centres start at different random points.
  for (std::size_t i = 0; i < centres; ++i)
    std::swap(order[i], order[i + random.below(order.size() - i)]);
  for (std::size_t i = 0; i < centres; ++i) centres_.add(points_.row(order[i]));
}

bool KMeans::round() {
  const Centres centres(centres_);
  std::vector<float> scratch;
  std::vector<std::uint32_t> counts(centres.size(), 0);
  // Doubles: a sum of very many floats would lose the last ones.
  std::vector<double> sums(centres.size() * points_.columns(), 0.0);
  std::size_t changes = 0;
  for (std::size_t i = 0; i < points_.rows(); ++i) {
    take_breath();
    const auto point = points_.row(i);
    const std::uint32_t owner = centres.nearest(point.data(), scratch);
    changes += owner != owner_[i] ? 1 : 0;
    owner_[i] = owner;
    ++counts[owner];
    double* sum = sums.data() + owner * points_.columns();
    for (std::size_t k = 0; k < point.size(); ++k) sum[k] += point[k];
  }
  for (std::size_t c = 0; c < counts.size(); ++c) {
    if (counts[c] == 0) continue;
    const auto row = centres_.row(c);
    for (std::size_t k = 0; k < row.size(); ++k)
      row[k] = static_cast<float>(sums[c * points_.columns() + k] / counts[c]);
  }
  fill_empty(counts);
  return ++rounds_ < kMostRounds && changes * kFewChanges > points_.rows();
}

// A centre without points moves next to the one with most points; the next round separates them.
void KMeans::fill_empty(std::vector<std::uint32_t>& counts) {
  Random random(seed_ + static_cast<std::uint64_t>(rounds_));
  for (std::size_t c = 0; c < counts.size(); ++c) {
    if (counts[c] != 0) continue;
    const auto most = static_cast<std::size_t>(std::ranges::max_element(counts) - counts.begin());
    const auto from = centres_.row(most);
    const auto to = centres_.row(c);
    for (std::size_t k = 0; k < to.size(); ++k) {
      // By a thousandth, up or down at random.
      const float shift = random.next() >> 63 != 0 ? 1.0009765625F : 0.9990234375F;
      to[k] = from[k] * shift;
    }
    // As if the points were divided, so that the next empty centre may choose another one.
    counts[c] = counts[most] / 2;
    counts[most] -= counts[c];
  }
}

}  // namespace kin::index
