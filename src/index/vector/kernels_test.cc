// The loops of every instruction set that this machine has, held against plain ones.
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.h"
#include "index/vector/kernels.h"
#include "index/vector/rotation.h"

namespace kin::index::internal {
namespace {

std::vector<float> numbers(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> result(count);
  for (float& value : result) value = static_cast<float>(2 * random.unit() - 1);
  return result;
}

// Runs `test` with each instruction set in turn.
template <typename Test>
void on_every_target(Test&& test) {
  for (const auto target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    SCOPED_TRACE(hwy::TargetName(target));
    test();
  }
  hwy::SetSupportedTargetsForTest(0);
}

TEST(VectorKernels, ProductsAndDistancesAreThoseOfPlainLoops) {
  on_every_target([] {
    for (const std::size_t count : {1, 3, 16, 31, 100, 784}) {
      const auto a = numbers(count, 1);
      const auto b = numbers(count, 2);
      double product = 0;
      double distance = 0;
      for (std::size_t i = 0; i < count; ++i) {
        product += static_cast<double>(a[i]) * b[i];
        distance += (static_cast<double>(a[i]) - b[i]) * (static_cast<double>(a[i]) - b[i]);
      }
      EXPECT_NEAR(dot(a.data(), b.data(), count), product, 1e-4);
      EXPECT_NEAR(squared_l2(a.data(), b.data(), count), distance, 1e-3);
    }
  });
}

TEST(VectorKernels, RowsAreMultipliedOneLikeTheOther) {
  on_every_target([] {
    const std::size_t stride = 48;
    const auto query = numbers(stride, 3);
    const auto rows = numbers(stride * 7, 4);
    std::vector<float> out(7);
    dot_rows(query.data(), rows.data(), stride, out);
    for (std::size_t i = 0; i < out.size(); ++i)
      EXPECT_NEAR(out[i], dot(query.data(), rows.data() + i * stride, stride), 1e-4);
  });
}

TEST(VectorKernels, AHadamardTransformTwiceIsNone) {
  on_every_target([] {
    for (const std::size_t count : {1, 2, 8, 64, 512}) {
      const auto before = numbers(count, 5);
      auto values = before;
      hadamard(values.data(), count);
      hadamard(values.data(), count);
      for (std::size_t i = 0; i < count; ++i) EXPECT_NEAR(values[i], before[i], 1e-5);
    }
  });
}

TEST(VectorKernels, HalvesKeepWhatTheyCanHold) {
  on_every_target([] {
    const std::vector<float> values{
        0,        -0.0F, 1,    -2.5F,         65504,          70000,          6.1e-5F,
        5.96e-8F, 1e-9F, 0.1F, 1.0009765625F, 1.00048828125F, 1.00146484375F, -0.333F,
        3,        4,     5};
    std::vector<std::uint16_t> halves(values.size());
    halves_from_floats(values, halves.data());
    std::vector<float> again(values.size());
    floats_from_halves(halves, again.data());
    EXPECT_EQ(again[4], 65504);
    EXPECT_EQ(halves[5], 0x7C00) << "beyond them is infinity";
    EXPECT_EQ(halves[11], 0x3C00) << "ties go to even";
    EXPECT_EQ(halves[12], 0x3C02);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i == 5) continue;
      EXPECT_NEAR(again[i], values[i], std::abs(values[i]) / 2048 + 3e-8) << i;
    }
  });
}

TEST(VectorKernels, ABlockIsScannedAsItsVectorsOneByOne) {
  on_every_target([] {
    for (const std::size_t groups : {1, 3, 25, 196, 300, 600}) {
      Random random(groups);
      std::vector<std::uint8_t> rows(groups * 16);
      std::vector<std::uint8_t> low(groups * 16);
      std::vector<std::uint8_t> high(groups * 16);
      for (auto* bytes : {&rows, &low, &high})
        for (auto& byte : *bytes) byte = static_cast<std::uint8_t>(random.next());
      std::vector<float> factors = numbers(3 * kBlock, 6);
      std::vector<std::uint16_t> halves(factors.size());
      halves_from_floats(factors, halves.data());
      floats_from_halves(halves, factors.data());
      const SignScan scan{.rows = rows.data(),
                          .groups = groups,
                          .low_table = low.data(),
                          .high_table = high.data(),
                          .offset = -3,
                          .step = 1e-5F,
                          .add = halves.data(),
                          .rescale = halves.data() + kBlock,
                          .error = halves.data() + 2 * kBlock,
                          .factor_scale = 2,
                          .query_add = 0.5F,
                          .query_error = 0.25F,
                          .limit = 0.5F};
      float products[kBlock];
      const std::uint32_t mask = scan_signs(scan, products);
      for (std::size_t v = 0; v < kBlock; ++v) {
        std::uint64_t sum = 0;
        for (std::size_t g = 0; g < groups; ++g) {
          const unsigned half = rows[16 * g + v % 16] >> (v / 16 * 4) & 15;
          sum += low[16 * g + half] + 256U * high[16 * g + half];
        }
        const double product = -3 + 1e-5 * static_cast<double>(sum);
        EXPECT_NEAR(products[v], product, 1e-4 * (1 + std::abs(product))) << groups << " " << v;
        const double bound =
            (factors[v] + factors[kBlock + v] * product - 0.25 * factors[2 * kBlock + v]) * 2 + 0.5;
        if (std::abs(bound - 0.5) <= 1e-3 * (1 + std::abs(product))) continue;
        EXPECT_EQ(mask >> v & 1, bound <= 0.5 ? 1U : 0U);
      }
    }
  });
}

TEST(VectorKernels, PackedCodesAreMultipliedForEveryNumberOfBits) {
  on_every_target([] {
    for (unsigned bits = 1; bits <= 7; ++bits) {
      for (const std::size_t dimension : {1, 7, 8, 100, 131}) {
        auto query = numbers(padded_dimension(dimension), bits);
        std::fill(query.begin() + static_cast<std::ptrdiff_t>(dimension), query.end(), 0.0F);
        std::vector<std::uint8_t> codes((dimension * bits + 7) / 8 + kReadSlack);
        Random random(dimension);
        for (auto& byte : codes) byte = static_cast<std::uint8_t>(random.next());
        double wanted = 0;
        for (std::size_t i = 0; i < dimension; ++i) {
          const std::size_t bit = i * bits;
          const unsigned word = codes[bit / 8] | codes[bit / 8 + 1] << 8;
          wanted += static_cast<double>(query[i]) * (word >> (bit % 8) & ((1U << bits) - 1));
        }
        EXPECT_NEAR(packed_dot(codes.data(), bits, {query.data(), dimension}), wanted, 2e-3);
      }
    }
  });
}

TEST(Rotation, KeepsLengthsAndAnglesAndSpreadsAnAxis) {
  for (const std::uint32_t dimension : {1U, 3U, 64U, 100U, 784U}) {
    const Rotation rotation(dimension, 11);
    const auto a = numbers(dimension, 1);
    const auto b = numbers(dimension, 2);
    std::vector<float> turned_a(dimension);
    std::vector<float> turned_b(dimension);
    rotation.apply(a, turned_a.data());
    rotation.apply(b, turned_b.data());
    EXPECT_NEAR(dot(turned_a.data(), turned_b.data(), dimension),
                dot(a.data(), b.data(), dimension), 1e-3);
    EXPECT_NEAR(squared_l2(turned_a.data(), turned_b.data(), dimension),
                squared_l2(a.data(), b.data(), dimension), 2e-3);
    std::vector<float> axis(dimension);
    axis[dimension / 2] = 1;
    rotation.apply(axis, axis.data());
    if (dimension < 64) continue;
    EXPECT_LT(std::abs(*std::ranges::max_element(axis)),
              8 / std::sqrt(static_cast<float>(dimension)));
  }
}

}  // namespace
}  // namespace kin::index::internal
