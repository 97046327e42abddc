// Linear algebra for latent semantic vectors. Results do not depend on the number of threads: each
// sum is made by one thread, in one order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"

namespace kin::embed::internal {

// Rows of `width` floats, each padded with zeros to whole SIMD vectors. Thread-compatible.
class Matrix {
 public:
  Matrix() = default;
  Matrix(std::size_t rows, std::size_t width);

  std::size_t rows() const { return rows_; }
  std::size_t width() const { return width_; }
  std::size_t stride() const { return stride_; }  // floats from row to row
  float* row(std::size_t i) { return values_.data() + i * stride_; }
  const float* row(std::size_t i) const { return values_.data() + i * stride_; }

 private:
  std::size_t rows_ = 0;
  std::size_t width_ = 0;
  std::size_t stride_ = 0;
  std::vector<float> values_;
};

// A matrix of mostly zeros, by rows. Thread-compatible.
struct SparseMatrix {
  std::vector<std::size_t> begins = {0};  // where each row starts below, and the end of the last
  std::vector<std::uint32_t> columns;
  std::vector<float> values;
  std::size_t width = 0;

  std::size_t rows() const { return begins.size() - 1; }
  SparseMatrix transposed() const;
};

// sparse * dense.
Matrix multiply(const SparseMatrix& sparse, const Matrix& dense, int threads);
// left * right.
Matrix multiply(const Matrix& left, const Matrix& right, int threads);

// A square symmetric matrix, row after row.
struct Square {
  std::size_t size = 0;
  std::vector<double> values;

  double& at(std::size_t i, std::size_t j) { return values[i * size + j]; }
  double at(std::size_t i, std::size_t j) const { return values[i * size + j]; }
};

// Transposed matrix * matrix.
Square gram(const Matrix& matrix, int threads);

// The eigenvalues of a symmetric matrix, the largest first, and in row i the vector of value i.
// Runs on one thread, with the same result on every machine.
struct EigenPairs {
  std::vector<double> values;
  Square vectors;
};
EigenPairs eigen(const Square& symmetric);

// sum += factor * row. `row` has as many numbers as `sum`.
void add_scaled(const std::int8_t* row, float factor, std::span<float> sum);

// Scales `vector` to length 1. False if it is zero or not finite.
bool normalise(std::span<float> vector);

}  // namespace kin::embed::internal
