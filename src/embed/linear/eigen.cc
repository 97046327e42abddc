#include <Eigen/Eigenvalues>

#include "embed/linear/dense.h"

namespace kin::embed::internal {

EigenPairs eigen(const Square& symmetric) {
  const auto n = static_cast<::Eigen::Index>(symmetric.size);
  if (n == 0) return {};
  // Eigen reads columns where we wrote rows; in a symmetric matrix they are the same.
  const ::Eigen::Map<const ::Eigen::MatrixXd> matrix(symmetric.values.data(), n, n);
  const ::Eigen::SelfAdjointEigenSolver<::Eigen::MatrixXd> solver(matrix);
  EigenPairs out{
      .values = std::vector<double>(symmetric.size),
      .vectors = {.size = symmetric.size, .values = std::vector<double>(symmetric.values.size())}};
  // Eigen has the smallest value first, and its vectors in columns.
  for (std::size_t i = 0; i < symmetric.size; ++i) {
    const auto column = n - 1 - static_cast<::Eigen::Index>(i);
    out.values[i] = solver.eigenvalues()[column];
    ::Eigen::Map<::Eigen::VectorXd>(&out.vectors.at(i, 0), n) = solver.eigenvectors().col(column);
  }
  return out;
}

}  // namespace kin::embed::internal
