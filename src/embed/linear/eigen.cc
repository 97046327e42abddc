#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "embed/linear/dense.h"

// Householder's reduction to three diagonals and the QL method with implicit shifts: EISPACK's
// tred2 and tql2, on the transposed matrix, so that every inner loop runs along a row.
namespace kin::embed::internal {
namespace {

struct Tridiagonal {
  std::vector<double> diagonal;
  std::vector<double> beside;  // beside[i] couples i - 1 and i
};

double dot(const double* a, const double* b, std::size_t count) {
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

// Takes row and column `last` of what is left to three diagonals: `v` keeps the reflection's vector
// in the row, and what is left is reflected. Returns half the vector's squared length.
double reflect(Square& v, std::size_t last, Tridiagonal& out) {
  double* const u = &v.at(last, 0);
  double scale = 0;
  for (std::size_t k = 0; k < last; ++k) scale += std::abs(u[k]);
  if (last == 1 || scale == 0) {
    out.beside[last] = u[last - 1];
    return 0;
  }
  double h = 0;
  for (std::size_t k = 0; k < last; ++k) {
    u[k] /= scale;
    h += u[k] * u[k];
  }
  const double f = u[last - 1];
  const double g = f > 0 ? -std::sqrt(h) : std::sqrt(h);
  out.beside[last] = scale * g;
  h -= f * g;
  u[last - 1] = f - g;
  std::vector<double> p(last);
  for (std::size_t j = 0; j < last; ++j) p[j] = dot(&v.at(j, 0), u, last) / h;
  const double half = dot(p.data(), u, last) / (h + h);
  for (std::size_t j = 0; j < last; ++j) p[j] -= half * u[j];
  for (std::size_t j = 0; j < last; ++j) {
    double* const row = &v.at(j, 0);
    for (std::size_t k = 0; k < last; ++k) row[k] -= p[j] * u[k] + u[j] * p[k];
  }
  return h;
}

// Replaces the symmetric `v` by the rotation that its reflections make: in its rows, what becomes
// the vectors.
Tridiagonal reduce(Square& v) {
  const std::size_t n = v.size;
  Tridiagonal out{.diagonal = std::vector<double>(n), .beside = std::vector<double>(n)};
  std::vector<double> lengths(n);
  for (std::size_t i = n - 1; i > 0; --i) lengths[i] = reflect(v, i, out);
  for (std::size_t i = 0; i < n; ++i) out.diagonal[i] = v.at(i, i);
  Square turned{.size = n, .values = std::vector<double>(n * n)};
  for (std::size_t i = 0; i < n; ++i) turned.at(i, i) = 1;
  for (std::size_t i = 1; i < n; ++i) {
    if (lengths[i] == 0) continue;
    const double* const u = &v.at(i, 0);
    for (std::size_t j = 0; j < i; ++j) {
      double* const row = &turned.at(j, 0);
      const double g = dot(row, u, i) / lengths[i];
      for (std::size_t k = 0; k < i; ++k) row[k] -= g * u[k];
    }
  }
  v = std::move(turned);
  return out;
}

void rotate(double* a, double* b, double c, double s, std::size_t count) {
  for (std::size_t k = 0; k < count; ++k) {
    const double h = b[k];
    b[k] = s * a[k] + c * h;
    a[k] = c * a[k] - s * h;
  }
}

// One step of QL with an implicit shift on rows `first` to `last`.
void chase(Tridiagonal& t, Square& v, std::size_t first, std::size_t last) {
  double* const d = t.diagonal.data();
  double* const e = t.beside.data();
  const double p0 = (d[first + 1] - d[first]) / (2 * e[first]);
  const double r0 = std::hypot(p0, 1.0);
  double g = d[last] - d[first] + e[first] / (p0 + std::copysign(r0, p0));
  double s = 1;
  double c = 1;
  double p = 0;
  for (std::size_t i = last; i-- > first;) {
    const double f = s * e[i];
    const double b = c * e[i];
    const double r = std::hypot(f, g);
    e[i + 1] = r;
    if (r == 0) {
      d[i + 1] -= p;
      e[last] = 0;
      return;
    }
    s = f / r;
    c = g / r;
    g = d[i + 1] - p;
    const double q = (d[i] - g) * s + 2 * c * b;
    p = s * q;
    d[i + 1] = g + p;
    g = c * q - b;
    rotate(&v.at(i, 0), &v.at(i + 1, 0), c, s, v.size);
  }
  d[first] -= p;
  e[first] = g;
  e[last] = 0;
}

// The end of the block that starts at `first`: where nothing couples it to the next.
std::size_t block_end(const Tridiagonal& t, std::size_t first) {
  std::size_t end = first;
  for (; end + 1 < t.diagonal.size(); ++end) {
    const double size = std::abs(t.diagonal[end]) + std::abs(t.diagonal[end + 1]);
    if (std::abs(t.beside[end]) <= std::numeric_limits<double>::epsilon() * size) break;
  }
  return end;
}

void solve(Tridiagonal& t, Square& v) {
  // beside[i] couples i and i + 1 from here on.
  std::rotate(t.beside.begin(), t.beside.begin() + 1, t.beside.end());
  t.beside.back() = 0;
  constexpr int kMostSteps = 60;  // a value takes two or three
  for (std::size_t first = 0; first < v.size; ++first) {
    for (int step = 0; step < kMostSteps; ++step) {
      const std::size_t last = block_end(t, first);
      if (last == first) break;
      chase(t, v, first, last);
    }
  }
}

}  // namespace

Eigen eigen(Square symmetric) {
  const std::size_t n = symmetric.size;
  if (n == 0) return {};
  Tridiagonal t = reduce(symmetric);
  solve(t, symmetric);
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return t.diagonal[a] != t.diagonal[b] ? t.diagonal[a] > t.diagonal[b] : a < b;
  });
  Eigen out{.values = std::vector<double>(n),
            .vectors = {.size = n, .values = std::vector<double>(n * n)}};
  for (std::size_t i = 0; i < n; ++i) {
    out.values[i] = t.diagonal[order[i]];
    std::copy_n(&symmetric.at(order[i], 0), n, &out.vectors.at(i, 0));
  }
  return out;
}

}  // namespace kin::embed::internal
