// k-means: the centres that cut a set of vectors into cells. The same vectors and seed give the
// same centres on every machine that rounds alike.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kin::index {

// Rows of equal length, padded with zeros to whole vectors. Thread-compatible.
class Matrix {
 public:
  explicit Matrix(std::size_t columns);

  std::size_t columns() const { return columns_; }
  std::size_t stride() const { return stride_; }
  std::size_t rows() const { return values_.size() / stride_; }
  std::span<float> row(std::size_t i) { return {values_.data() + i * stride_, columns_}; }
  std::span<const float> row(std::size_t i) const {
    return {values_.data() + i * stride_, columns_};
  }
  const float* data() const { return values_.data(); }
  void add(std::span<const float> row);
  void resize(std::size_t rows) { values_.resize(rows * stride_); }
  void reserve(std::size_t rows) { values_.reserve(rows * stride_); }
  std::size_t bytes() const { return values_.capacity() * sizeof(float); }

 private:
  std::size_t columns_;
  std::size_t stride_;
  std::vector<float> values_;
};

// The nearest rows of a set of centres, by squared distance. Thread-compatible.
class Centres {
 public:
  explicit Centres(Matrix matrix);

  const Matrix& matrix() const { return matrix_; }
  std::size_t size() const { return squares_.size(); }
  // The squared distances less the square of `vector`, which has the matrix's stride, padded.
  void distances(const float* vector, std::span<float> out) const;
  // The products with `vector`.
  void products(const float* vector, std::span<float> out) const;
  std::uint32_t nearest(const float* vector, std::vector<float>& scratch) const;
  float square(std::size_t i) const { return squares_[i]; }
  std::size_t bytes() const { return matrix_.bytes() + squares_.capacity() * sizeof(float); }

 private:
  Matrix matrix_;
  std::vector<float> squares_;
};

// Lloyd's algorithm, one round per call so that no call takes long. One thread only.
class KMeans {
 public:
  // `points` must be in random order; `centres` is at most the number of points.
  KMeans(Matrix points, std::size_t centres, std::uint64_t seed);

  // Runs one more round. False once another would change little.
  bool round();
  Matrix take() { return std::move(centres_); }

 private:
  void fill_empty(std::vector<std::uint32_t>& counts);

  Matrix points_;
  Matrix centres_;
  std::vector<std::uint32_t> owner_;
  std::uint64_t seed_;
  int rounds_ = 0;
};

}  // namespace kin::index
