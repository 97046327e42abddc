// The inner loops of vector search, each compiled for every instruction set and chosen when the
// program starts. All are thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace kin::index::internal {

// Vectors of a block of codes: they are scanned together.
constexpr std::size_t kBlock = 32;
// Floats that a row is padded to, with zeros.
constexpr std::size_t kRowPad = 16;
// Bytes that may be read behind the last packed code.
constexpr std::size_t kReadSlack = 8;

constexpr std::size_t padded_dimension(std::size_t dimension) {
  return (dimension + kRowPad - 1) / kRowPad * kRowPad;
}
// Groups of four dimensions, each a row of 16 bytes of a block.
constexpr std::size_t sign_groups(std::size_t dimension) {
  return (dimension + 3) / 4;
}

float dot(const float* a, const float* b, std::size_t count);
float squared_l2(const float* a, const float* b, std::size_t count);

// The products of `query` with rows of `stride` floats, a multiple of kRowPad, padded with zeros as
// `query` is; one for each element of `out`.
void dot_rows(const float* query, const float* rows, std::size_t stride, std::span<float> out);

// The orthonormal Walsh-Hadamard transform of `count` values, a power of two.
void hadamard(float* values, std::size_t count);

void halves_from_floats(std::span<const float> from, std::uint16_t* to);
void floats_from_halves(std::span<const std::uint16_t> from, float* to);

// One block of one-bit codes against a query. `rows` has 16 bytes for each of `groups`: byte j
// holds the signs of four dimensions of vector j in its low half and of vector j + 16 in its high
// half. The tables hold, for each group, the query's sums of 16 bits for the 16 values of a half
// byte.
struct SignScan {
  const std::uint8_t* rows;
  std::size_t groups;
  const std::uint8_t* low_table;
  const std::uint8_t* high_table;
  float offset;  // product = offset + step * sum of table entries
  float step;
  // Half-precision factors of the block's vectors, see vector/code.h.
  const std::uint16_t* add;
  const std::uint16_t* rescale;
  const std::uint16_t* error;
  float factor_scale;
  float query_add;
  float query_error;
  float limit;
};
// The block's vectors whose lower bound does not exceed the limit, as bits. `products` gets the 32
// products of the query with the signs (0 or 1).
std::uint32_t scan_signs(const SignScan& scan, float* products);

// The product of `query` with `dimension` codes of `bits` (1 to 7) bits packed from the lowest bit
// up. `query` is padded with zeros; kReadSlack bytes behind the codes may be read.
float packed_dot(const std::uint8_t* codes, unsigned bits, std::span<const float> query);

}  // namespace kin::index::internal
