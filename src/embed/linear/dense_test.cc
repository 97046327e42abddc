#include "embed/linear/dense.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/random.h"

namespace kin::embed::internal {
namespace {

Matrix random_matrix(std::size_t rows, std::size_t width) {
  Random random(rows * 31 + width);
  Matrix out(rows, width);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < width; ++j) out.row(i)[j] = static_cast<float>(random.unit() - 0.4);
  }
  return out;
}

TEST(DenseTest, MultipliesAsTheDefinitionDoes) {
  const Matrix left = random_matrix(70, 13);
  const Matrix right = random_matrix(13, 6);
  const Matrix product = multiply(left, right, 2);
  for (std::size_t i = 0; i < 70; ++i) {
    for (std::size_t j = 0; j < 6; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < 13; ++k) sum += left.row(i)[k] * right.row(k)[j];
      EXPECT_NEAR(product.row(i)[j], sum, 1e-5);
    }
  }
}

TEST(DenseTest, MultipliesSparseMatricesAndTheirTranspose) {
  SparseMatrix sparse;
  sparse.width = 3;
  sparse.columns = {0, 2, 1};
  sparse.values = {2, 3, 5};
  sparse.begins = {0, 2, 2, 3};  // 2 0 3 / 0 0 0 / 0 5 0
  Matrix dense(3, 1);
  for (std::size_t i = 0; i < 3; ++i) dense.row(i)[0] = static_cast<float>(i + 1);
  const Matrix product = multiply(sparse, dense, 1);
  EXPECT_FLOAT_EQ(product.row(0)[0], 11);
  EXPECT_FLOAT_EQ(product.row(1)[0], 0);
  EXPECT_FLOAT_EQ(product.row(2)[0], 10);
  const Matrix back = multiply(sparse.transposed(), dense, 1);
  EXPECT_FLOAT_EQ(back.row(0)[0], 2);
  EXPECT_FLOAT_EQ(back.row(1)[0], 15);
  EXPECT_FLOAT_EQ(back.row(2)[0], 3);
}

TEST(DenseTest, GivesTheSameSumsWithAnyNumberOfThreads) {
  const Matrix matrix = random_matrix(1000, 75);
  const Square one = gram(matrix, 1);
  const Square three = gram(matrix, 3);
  EXPECT_EQ(one.values, three.values);
  double sum = 0;
  for (std::size_t i = 0; i < 1000; ++i) sum += matrix.row(i)[3] * matrix.row(i)[70];
  EXPECT_NEAR(one.at(3, 70), sum, 1e-3);
  EXPECT_EQ(one.at(3, 70), one.at(70, 3));
}

TEST(DenseTest, FindsTheEigenvectorsOfSymmetricMatrices) {
  for (const std::size_t size : {1U, 2U, 3U, 40U, 101U}) {
    const Square matrix = gram(random_matrix(size / 2 + 5, size), 1);
    const EigenPairs found = eigen(matrix);
    for (std::size_t v = 0; v < size; ++v) {
      double length = 0;
      for (std::size_t i = 0; i < size; ++i) {
        double image = 0;
        for (std::size_t j = 0; j < size; ++j) image += matrix.at(i, j) * found.vectors.at(v, j);
        EXPECT_NEAR(image, found.values[v] * found.vectors.at(v, i), 1e-8 * (1 + found.values[0]));
        length += found.vectors.at(v, i) * found.vectors.at(v, i);
      }
      EXPECT_NEAR(length, 1, 1e-9);
      if (v > 0) {
        EXPECT_LE(found.values[v], found.values[v - 1]);
      }
    }
  }
}

TEST(DenseTest, FindsTheEigenvectorsOfDiagonalAndZeroMatrices) {
  const EigenPairs diagonal = eigen({.size = 3, .values = {1, 0, 0, 0, 7, 0, 0, 0, 3}});
  EXPECT_EQ(diagonal.values, (std::vector<double>{7, 3, 1}));
  EXPECT_EQ(std::abs(diagonal.vectors.at(0, 1)), 1);
  EXPECT_EQ(eigen({.size = 2, .values = {0, 0, 0, 0}}).values, (std::vector<double>{0, 0}));
}

TEST(DenseTest, AddsRowsOfBytesOfAnyLength) {
  for (const std::size_t size : {1U, 15U, 16U, 17U, 300U}) {
    std::vector<std::int8_t> row(size);
    for (std::size_t i = 0; i < size; ++i) row[i] = static_cast<std::int8_t>(i * 7 - 100);
    std::vector<float> sum(size, 1);
    add_scaled(row.data(), 0.5F, sum);
    for (std::size_t i = 0; i < size; ++i) EXPECT_FLOAT_EQ(sum[i], 1 + 0.5F * row[i]);
  }
}

TEST(DenseTest, NormalisesDirectionsOnly) {
  std::vector<float> vector{3, 4};
  EXPECT_TRUE(normalise(vector));
  EXPECT_FLOAT_EQ(vector[0], 0.6F);
  std::vector<float> zero(3);
  EXPECT_FALSE(normalise(zero));
  std::vector<float> endless{std::numeric_limits<float>::infinity()};
  EXPECT_FALSE(normalise(endless));
}

}  // namespace
}  // namespace kin::embed::internal
