#include "stories/grouping/meaning.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace kin::stories {
namespace {

constexpr double kSteps = 254;
constexpr float kSummaryPart = 0.5F;
// The mean is computed as if this many more vectors of zeros had been read, so that the first ones
// stay apart.
constexpr double kUnseen = 10;
// Sum and count are halved above this count.
constexpr double kMostCounted = 20'000;

// Uses several partial sums, which a compiler can vectorise without changing the result.
double product(const std::vector<float>& a, const std::vector<float>& b) {
  constexpr std::size_t kLanes = 8;
  std::array<float, kLanes> sums{};
  std::size_t i = 0;
  for (; i + kLanes <= a.size(); i += kLanes) {
    for (std::size_t k = 0; k < kLanes; ++k) sums[k] += a[i + k] * b[i + k];
  }
  double sum = 0;
  for (const float part : sums) sum += part;
  for (; i < a.size(); ++i) sum += double{a[i]} * b[i];
  return sum;
}

}  // namespace

MeaningReader::MeaningReader(std::shared_ptr<const embed::Embedder> model)
    : model_(std::move(model)) {
  if (model_ == nullptr) return;
  state_.model = model_->info().model_hash;
  state_.sum.resize(model_->info().dimension);
}

bool MeaningReader::restore(State state) {
  if (state.model != state_.model || state.sum.size() != state_.sum.size()) return false;
  state_ = std::move(state);
  return true;
}

std::vector<std::int8_t> MeaningReader::read(std::string_view title, std::string_view summary) {
  if (model_ == nullptr) return {};
  const std::array texts{title, summary};
  const auto vectors = model_->embed(std::span(texts).first(summary.empty() ? 1 : 2));
  // If the model fails, the words remain, which decide most.
  if (!vectors.ok() || vectors->front().empty()) return {};
  vector_ = vectors->front();
  if (vectors->size() > 1 && !vectors->back().empty()) {
    double square = 0;
    for (std::size_t i = 0; i < vector_.size(); ++i) {
      vector_[i] += kSummaryPart * vectors->back()[i];
      square += double{vector_[i]} * vector_[i];
    }
    const auto scale = static_cast<float>(1 / (std::sqrt(square) + 1e-9));
    for (float& value : vector_) value *= scale;
  }
  std::vector<double> centred(vector_.size());
  double square = 0;
  for (std::size_t i = 0; i < vector_.size(); ++i) {
    centred[i] = vector_[i] - state_.sum[i] / (state_.count + kUnseen);
    square += centred[i] * centred[i];
    state_.sum[i] += vector_[i];
  }
  state_.count += 1;
  if (state_.count > kMostCounted) {
    state_.count /= 2;
    for (double& value : state_.sum) value /= 2;
  }
  std::vector<std::int8_t> steps(centred.size());
  const double scale = kSteps / (std::sqrt(square) + 1e-9);
  for (std::size_t i = 0; i < centred.size(); ++i)
    steps[i] = static_cast<std::int8_t>(std::clamp(std::round(scale * centred[i]), -127.0, 127.0));
  return steps;
}

void MeaningSum::measure() {
  length = std::sqrt(product(values, values));
}

void MeaningSum::add(std::span<const std::int8_t> vector) {
  if (vector.empty()) return;
  values.resize(vector.size());
  for (std::size_t i = 0; i < vector.size(); ++i) values[i] += static_cast<float>(vector[i]);
  ++count;
  measure();
}

void MeaningSum::subtract(std::span<const std::int8_t> vector) {
  if (vector.empty()) return;
  for (std::size_t i = 0; i < vector.size(); ++i) values[i] -= static_cast<float>(vector[i]);
  if (--count == 0) values.clear();
  measure();
}

void MeaningSum::add(const MeaningSum& other) {
  if (other.values.empty()) return;
  values.resize(other.values.size());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] += other.values[i];
  count += other.count;
  measure();
}

double cosine(const MeaningSum& a, const MeaningSum& b) {
  if (a.values.empty() || b.values.empty()) return 0;
  const double scale = a.length * b.length;
  return scale > 0 ? product(a.values, b.values) / scale : 0;
}

}  // namespace kin::stories
