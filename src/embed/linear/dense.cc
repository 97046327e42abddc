#include "embed/linear/dense.h"

#include <algorithm>
#include <cmath>

#include "base/workers.h"

namespace kin::embed::internal {
namespace {

// Four floats in one register, which every 64-bit machine has. Wider registers would not give the
// same sums on every machine.
using Lanes [[gnu::vector_size(16), gnu::aligned(4), gnu::may_alias]] = float;
constexpr std::size_t kLanes = 4;
constexpr std::size_t kWide = 16;  // bytes made floats at a time
// Rows that are added to a sum in one pass over it.
constexpr std::size_t kAtOnce = 8;
constexpr std::size_t kRowsAtOnce = 256;   // of a sum in floats, before it goes on in doubles
constexpr std::size_t kRowsOfAnItem = 64;  // handed to a thread at a time

// Up to kAtOnce rows and how much of each goes into a sum.
struct Terms {
  float factors[kAtOnce];
  const float* rows[kAtOnce];
  std::size_t count = 0;

  void add(float factor, const float* row) {
    factors[count] = factor;
    rows[count] = row;
    ++count;
  }
};

// to[begin..end) += the sum of the terms. Nearly all calls have kAtOnce terms: these are written
// out, so that each lane of `to` is loaded and stored once for all of them.
void add_terms(float* to, std::size_t begin, std::size_t end, const Terms& terms) {
  if (terms.count == kAtOnce) {
    const float* const r0 = terms.rows[0];
    const float* const r1 = terms.rows[1];
    const float* const r2 = terms.rows[2];
    const float* const r3 = terms.rows[3];
    const float* const r4 = terms.rows[4];
    const float* const r5 = terms.rows[5];
    const float* const r6 = terms.rows[6];
    const float* const r7 = terms.rows[7];
    const auto lanes = [](const float* at) { return *reinterpret_cast<const Lanes*>(at); };
    const float* const f = terms.factors;
    for (std::size_t j = begin; j < end; j += kLanes) {
      const Lanes low = (lanes(r0 + j) * f[0] + lanes(r1 + j) * f[1]) +
                        (lanes(r2 + j) * f[2] + lanes(r3 + j) * f[3]);
      const Lanes high = (lanes(r4 + j) * f[4] + lanes(r5 + j) * f[5]) +
                         (lanes(r6 + j) * f[6] + lanes(r7 + j) * f[7]);
      *reinterpret_cast<Lanes*>(to + j) += low + high;
    }
    return;
  }
  for (std::size_t i = 0; i < terms.count; ++i) {
    const float* const row = terms.rows[i];
    for (std::size_t j = begin; j < end; j += kLanes)
      *reinterpret_cast<Lanes*>(to + j) +=
          *reinterpret_cast<const Lanes*>(row + j) * terms.factors[i];
  }
}

std::size_t items_of(std::size_t rows) {
  return (rows + kRowsOfAnItem - 1) / kRowsOfAnItem;
}

// Calls work(row) for every row, some rows at a time on each thread.
template <typename Work>
void for_rows(int threads, std::size_t rows, const Work& work) {
  const Status done = parallel_for(threads, items_of(rows), [&](std::size_t item) -> Status {
    const std::size_t end = std::min(rows, (item + 1) * kRowsOfAnItem);
    for (std::size_t row = item * kRowsOfAnItem; row < end; ++row) work(row);
    return Done{};
  });
  KIN_CHECK(done.ok(), "rows cannot fail");
}

}  // namespace

Matrix::Matrix(std::size_t rows, std::size_t width)
    : rows_(rows),
      width_(width),
      stride_((width + kLanes - 1) / kLanes * kLanes),
      values_(rows * stride_) {}

SparseMatrix SparseMatrix::transposed() const {
  SparseMatrix out;
  out.width = rows();
  out.begins.assign(width + 1, 0);
  out.columns.resize(columns.size());
  out.values.resize(values.size());
  for (const std::uint32_t column : columns) ++out.begins[column + 1];
  for (std::size_t i = 0; i < width; ++i) out.begins[i + 1] += out.begins[i];
  // Where the next value of each column goes. Rows come in order, so they stay in order.
  std::vector<std::size_t> next(out.begins.begin(), out.begins.end() - 1);
  for (std::size_t row = 0; row < rows(); ++row) {
    for (std::size_t i = begins[row]; i < begins[row + 1]; ++i) {
      const std::size_t place = next[columns[i]]++;
      out.columns[place] = static_cast<std::uint32_t>(row);
      out.values[place] = values[i];
    }
  }
  return out;
}

// Row by row: each thread has rows of the result to itself, and adds rows of `dense` to them.
Matrix multiply(const SparseMatrix& sparse, const Matrix& dense, int threads) {
  Matrix out(sparse.rows(), dense.width());
  for_rows(threads, sparse.rows(), [&](std::size_t row) {
    const std::size_t end = sparse.begins[row + 1];
    for (std::size_t i = sparse.begins[row]; i < end;) {
      Terms terms;
      for (; i < end && terms.count < kAtOnce; ++i)
        terms.add(sparse.values[i], dense.row(sparse.columns[i]));
      add_terms(out.row(row), 0, dense.stride(), terms);
    }
  });
  return out;
}

Matrix multiply(const Matrix& left, const Matrix& right, int threads) {
  Matrix out(left.rows(), right.width());
  for_rows(threads, left.rows(), [&](std::size_t row) {
    for (std::size_t i = 0; i < left.width();) {
      Terms terms;
      for (; i < left.width() && terms.count < kAtOnce; ++i)
        terms.add(left.row(row)[i], right.row(i));
      add_terms(out.row(row), 0, right.stride(), terms);
    }
  });
  return out;
}

Square gram(const Matrix& matrix, int threads) {
  const std::size_t size = matrix.width();
  Square out{.size = size, .values = std::vector<double>(size * size)};
  constexpr std::size_t kStripe = 32;  // rows of the result; a multiple of kLanes, see add_terms()
  const std::size_t stripes = (size + kStripe - 1) / kStripe;
  const Status done = parallel_for(threads, stripes, [&](std::size_t stripe) -> Status {
    const std::size_t begin = stripe * kStripe;
    const std::size_t end = std::min(size, begin + kStripe);
    for (std::size_t first = 0; first < matrix.rows(); first += kRowsAtOnce) {
      const std::size_t last = std::min(matrix.rows(), first + kRowsAtOnce);
      Matrix part(end - begin, size);
      for (std::size_t row = first; row < last; row += kAtOnce) {
        for (std::size_t i = begin; i < end; ++i) {
          Terms terms;
          for (std::size_t r = row; r < std::min(last, row + kAtOnce); ++r)
            terms.add(matrix.row(r)[i], matrix.row(r));
          // The result is symmetric: columns before the stripe are copied at the end.
          add_terms(part.row(i - begin), begin, matrix.stride(), terms);
        }
      }
      for (std::size_t i = begin; i < end; ++i) {
        for (std::size_t j = i; j < size; ++j) out.at(i, j) += part.row(i - begin)[j];
      }
    }
    return Done{};
  });
  KIN_CHECK(done.ok(), "stripes cannot fail");
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < i; ++j) out.at(i, j) = out.at(j, i);
  }
  return out;
}

void add_scaled(const std::int8_t* row, float factor, std::span<float> sum) {
  using Bytes [[gnu::vector_size(kWide), gnu::aligned(1), gnu::may_alias]] = std::int8_t;
  using Floats [[gnu::vector_size(kWide * 4), gnu::aligned(4), gnu::may_alias]] = float;
  std::size_t i = 0;
  for (; i + kWide <= sum.size(); i += kWide) {
    const Bytes bytes = *reinterpret_cast<const Bytes*>(row + i);
    *reinterpret_cast<Floats*>(sum.data() + i) += __builtin_convertvector(bytes, Floats) * factor;
  }
  for (; i < sum.size(); ++i) sum[i] += static_cast<float>(row[i]) * factor;
}

bool normalise(std::span<float> vector) {
  double sum = 0;  // squares of floats fit into a double
  for (const float value : vector) sum += static_cast<double>(value) * value;
  if (!(sum > 0) || !std::isfinite(sum)) return false;
  const auto factor = static_cast<float>(1 / std::sqrt(sum));
  for (float& value : vector) value *= factor;
  return std::isfinite(factor);
}

}  // namespace kin::embed::internal
