#include "index/vector/kernels.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "index/vector/kernels.cc"  // NOLINT
#include <hwy/foreach_target.h>
// foreach_target.h comes first
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kin::index::internal::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, kRowPad>;
using FloatVector = hn::Vec<Floats>;

float dot_one(const float* a, const float* b, std::size_t count) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  // Two sums, so that an addition need not wait for the one before.
  auto first = hn::Zero(d);
  auto second = hn::Zero(d);
  std::size_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    first = hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, b + i), first);
    second = hn::MulAdd(hn::LoadU(d, a + i + lanes), hn::LoadU(d, b + i + lanes), second);
  }
  for (; i + lanes <= count; i += lanes)
    first = hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, b + i), first);
  float sum = hn::GetLane(hn::SumOfLanes(d, first + second));
  for (; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

float squared_l2_one(const float* a, const float* b, std::size_t count) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  auto first = hn::Zero(d);
  auto second = hn::Zero(d);
  std::size_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    const auto x = hn::LoadU(d, a + i) - hn::LoadU(d, b + i);
    const auto y = hn::LoadU(d, a + i + lanes) - hn::LoadU(d, b + i + lanes);
    first = hn::MulAdd(x, x, first);
    second = hn::MulAdd(y, y, second);
  }
  for (; i + lanes <= count; i += lanes) {
    const auto x = hn::LoadU(d, a + i) - hn::LoadU(d, b + i);
    first = hn::MulAdd(x, x, first);
  }
  float sum = hn::GetLane(hn::SumOfLanes(d, first + second));
  for (; i < count; ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

void dot_rows_all(const float* query, const float* rows, std::size_t stride, std::span<float> out) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t row = 0;
  for (; row + 4 <= out.size(); row += 4) {
    // Four rows at a time: the query is loaded once for all of them.
    const float* at = rows + row * stride;
    FloatVector sums[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
    for (std::size_t i = 0; i < stride; i += lanes) {
      const auto q = hn::LoadU(d, query + i);
      for (std::size_t r = 0; r < 4; ++r)
        sums[r] = hn::MulAdd(q, hn::LoadU(d, at + r * stride + i), sums[r]);
    }
    for (std::size_t r = 0; r < 4; ++r) out[row + r] = hn::GetLane(hn::SumOfLanes(d, sums[r]));
  }
  for (; row < out.size(); ++row) out[row] = dot_one(query, rows + row * stride, stride);
}

void hadamard_all(float* values, std::size_t count) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  // Butterflies: sums and differences of pairs that are 1, 2, 4, … apart.
  for (std::size_t half = 1; half < count; half *= 2) {
    for (std::size_t at = 0; at < count; at += 2 * half) {
      float* low = values + at;
      float* high = low + half;
      std::size_t i = 0;
      for (; i + lanes <= half; i += lanes) {
        const auto a = hn::LoadU(d, low + i);
        const auto b = hn::LoadU(d, high + i);
        hn::StoreU(a + b, d, low + i);
        hn::StoreU(a - b, d, high + i);
      }
      for (; i < half; ++i) {
        const float a = low[i];
        const float b = high[i];
        low[i] = a + b;
        high[i] = a - b;
      }
    }
  }
  const float scale = 1.0F / std::sqrt(static_cast<float>(count));
  for (std::size_t i = 0; i < count; ++i) values[i] *= scale;
}

HWY_INLINE FloatVector load_halves(const std::uint16_t* from) {
  const Floats d;
  const hn::Rebind<hwy::float16_t, Floats> half;
  const hn::Rebind<std::uint16_t, Floats> raw;
  return hn::PromoteTo(d, hn::BitCast(half, hn::LoadU(raw, from)));
}

void from_halves(std::span<const std::uint16_t> from, float* to) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= from.size(); i += lanes) hn::StoreU(load_halves(from.data() + i), d, to + i);
  if (i == from.size()) return;
  // A buffer for the rest: a vector load from its place would read past the end.
  std::uint16_t rest[kRowPad] = {};
  float last[kRowPad];
  std::copy(from.begin() + static_cast<std::ptrdiff_t>(i), from.end(), rest);
  hn::StoreU(load_halves(rest), d, last);
  std::copy_n(last, from.size() - i, to + i);
}

#if HWY_TARGET == HWY_SCALAR
void sum_block(const SignScan& scan, std::uint32_t* sums) {
  for (std::size_t g = 0; g < scan.groups; ++g) {
    for (std::size_t j = 0; j < 16; ++j) {
      const std::size_t first = 16 * g + (scan.rows[16 * g + j] & 15);
      const std::size_t second = 16 * g + (scan.rows[16 * g + j] >> 4);
      sums[j] += scan.low_table[first] + 256U * scan.high_table[first];
      sums[j + 16] += scan.low_table[second] + 256U * scan.high_table[second];
    }
  }
}
#else
// Sums of table bytes for 16 vectors, kept as 16-bit words: `all` adds whole words, whose low byte
// is an even vector's, and `odd` adds the high bytes alone.
template <class D16>
struct Sums {
  hn::Vec<D16> all;
  hn::Vec<D16> odd;
};

// The sums of one table for the first and the last 16 vectors of a block.
template <class D16>
struct TableSums {
  Sums<D16> first;
  Sums<D16> last;
};

// The sums of both tables.
template <class D16>
struct BlockSums {
  TableSums<D16> low;
  TableSums<D16> high;
};

template <class D16>
HWY_INLINE BlockSums<D16> no_sums(D16 d16) {
  const auto zero = hn::Zero(d16);
  const TableSums<D16> none{{zero, zero}, {zero, zero}};
  return {none, none};
}

template <class D16, class V8>
HWY_INLINE void add_bytes(D16 d16, V8 bytes, Sums<D16>& sums) {
  const auto words = hn::BitCast(d16, bytes);
  sums.all = sums.all + words;
  sums.odd = sums.odd + hn::ShiftRight<8>(words);
}

template <class D8>
HWY_INLINE void add_rows(D8 d8, const SignScan& scan, std::size_t g,
                         BlockSums<hn::Repartition<std::uint16_t, D8> >& sums) {
  using D16 = hn::Repartition<std::uint16_t, D8>;
  const D16 d16;
  const auto nibble = hn::Set(d8, 0x0F);
  const auto codes = hn::LoadU(d8, scan.rows + 16 * g);
  const auto first = hn::And(codes, nibble);
  // There is no shift of bytes; the mask removes the bits that a shift of words moves in from the
  // neighbour.
  const auto last = hn::And(hn::BitCast(d8, hn::ShiftRight<4>(hn::BitCast(d16, codes))), nibble);
  const auto low = hn::LoadU(d8, scan.low_table + 16 * g);
  const auto high = hn::LoadU(d8, scan.high_table + 16 * g);
  add_bytes(D16(), hn::TableLookupBytes(low, first), sums.low.first);
  add_bytes(D16(), hn::TableLookupBytes(low, last), sums.low.last);
  add_bytes(D16(), hn::TableLookupBytes(high, first), sums.high.first);
  add_bytes(D16(), hn::TableLookupBytes(high, last), sums.high.last);
}

using Wide8 = hn::CappedTag<std::uint8_t, 64>;
using Wide16 = hn::Repartition<std::uint16_t, Wide8>;
using Narrow8 = hn::FixedTag<std::uint8_t, 16>;
using Narrow16 = hn::FixedTag<std::uint16_t, 8>;

// The 128-bit parts of a vector, added up.
template <class D16>
HWY_INLINE hn::Vec<Narrow16> folded(D16 d16, hn::Vec<D16> words) {
  if constexpr (hn::MaxLanes(D16()) > 8) {
    const hn::Half<D16> half;
    return folded(half, hn::LowerHalf(half, words) + hn::UpperHalf(half, words));
  } else {
    (void)d16;
    return words;
  }
}

template <class D16>
HWY_INLINE Sums<Narrow16> folded(D16 d16, const Sums<D16>& sums) {
  return {folded(d16, sums.all), folded(d16, sums.odd)};
}

template <class D16>
HWY_INLINE BlockSums<Narrow16> folded(D16 d16, const BlockSums<D16>& sums) {
  return {{folded(d16, sums.low.first), folded(d16, sums.low.last)},
          {folded(d16, sums.high.first), folded(d16, sums.high.last)}};
}

// Eight sums of both tables, added to `out`.
HWY_INLINE void add_eight(hn::Vec<Narrow16> low, hn::Vec<Narrow16> high, std::uint32_t* out) {
  const hn::FixedTag<std::uint32_t, 4> d32;
  const hn::Half<Narrow16> half;
  const auto four = [&](auto l, auto h, std::uint32_t* to) HWY_ATTR {
    const auto sum = hn::PromoteTo(d32, l) + hn::ShiftLeft<8>(hn::PromoteTo(d32, h));
    hn::Store(hn::Load(d32, to) + sum, d32, to);
  };
  four(hn::LowerHalf(half, low), hn::LowerHalf(half, high), out);
  four(hn::UpperHalf(half, low), hn::UpperHalf(half, high), out + 4);
}

HWY_INLINE void add_sixteen(const Sums<Narrow16>& low, const Sums<Narrow16>& high,
                            std::uint32_t* out) {
  const Narrow16 d;
  // `all` holds even + 256 * odd, modulo 2^16; an even sum alone fits 16 bits.
  const auto low_even = low.all - hn::ShiftLeft<8>(low.odd);
  const auto high_even = high.all - hn::ShiftLeft<8>(high.odd);
  add_eight(hn::InterleaveLower(d, low_even, low.odd), hn::InterleaveLower(d, high_even, high.odd),
            out);
  add_eight(hn::InterleaveUpper(d, low_even, low.odd), hn::InterleaveUpper(d, high_even, high.odd),
            out + 8);
}

// 16-bit sums of bytes hold 256 rows: 256 * 255 is below 2^16.
constexpr std::size_t kMostRows = 256;

void sum_block(const SignScan& scan, std::uint32_t* sums) {
  const Wide8 wide;
  const std::size_t step = hn::Lanes(wide) / 16;
  for (std::size_t from = 0; from < scan.groups; from += kMostRows) {
    const std::size_t to = std::min(scan.groups, from + kMostRows);
    // A wide vector takes several groups at once, one in each of its 128-bit parts.
    std::size_t g = from;
    auto partial = no_sums(Wide16());
    for (; g + step <= to; g += step) add_rows(wide, scan, g, partial);
    auto whole = folded(Wide16(), partial);
    for (; g < to; ++g) add_rows(Narrow8(), scan, g, whole);
    add_sixteen(whole.low.first, whole.high.first, sums);
    add_sixteen(whole.low.last, whole.high.last, sums + 16);
  }
}
#endif

std::uint32_t scan_block(const SignScan& scan, float* products) {
  HWY_ALIGN std::uint32_t sums[kBlock] = {};
  sum_block(scan, sums);
  const Floats d;
  const hn::RebindToSigned<Floats> di;
  const std::size_t lanes = hn::Lanes(d);
  const auto scale = hn::Set(d, scan.factor_scale);
  const auto limit = hn::Set(d, scan.limit);
  std::uint32_t mask = 0;
  for (std::size_t i = 0; i < kBlock; i += lanes) {
    const auto whole = hn::Load(di, reinterpret_cast<const std::int32_t*>(sums) + i);
    const auto product =
        hn::MulAdd(hn::ConvertTo(d, whole), hn::Set(d, scan.step), hn::Set(d, scan.offset));
    hn::StoreU(product, d, products + i);
    const auto add = hn::MulAdd(load_halves(scan.rescale + i), product, load_halves(scan.add + i));
    const auto slack = load_halves(scan.error + i) * hn::Set(d, scan.query_error);
    const auto bound = hn::MulAdd(add - slack, scale, hn::Set(d, scan.query_add));
    std::uint8_t bits[8] = {};
    hn::StoreMaskBits(d, hn::Le(bound, limit), bits);
    std::uint32_t word;
    std::memcpy(&word, bits, sizeof word);
    mask |= (word & ((1ULL << lanes) - 1)) << i;
  }
  return mask;
}

// Eight codes fill `bits` bytes, so a 64-bit load holds them; each lane shifts its own down.
float packed_dot_all(const std::uint8_t* codes, unsigned bits, std::span<const float> query) {
  const hn::CappedTag<std::uint64_t, 8> d64;
  const hn::Rebind<std::uint32_t, decltype(d64)> d32;
  const hn::RebindToSigned<decltype(d32)> di;
  const hn::RebindToFloat<decltype(d32)> df;
  const std::size_t lanes = hn::Lanes(d64);
  const auto mask = hn::Set(d64, (1ULL << bits) - 1);
  const auto step = hn::Iota(d64, 0) * hn::Set(d64, bits);
  auto even = hn::Zero(df);
  auto odd = hn::Zero(df);
  const auto part = [&](std::uint64_t word, std::size_t at, auto sum) HWY_ATTR {
    const auto shifted = hn::And(hn::Shr(hn::Set(d64, word), step), mask);
    const auto value = hn::ConvertTo(df, hn::BitCast(di, hn::TruncateTo(d32, shifted)));
    return hn::MulAdd(value, hn::LoadU(df, query.data() + at), sum);
  };
  for (std::size_t at = 0; at < query.size(); at += 8, codes += bits) {
    std::uint64_t word;
    std::memcpy(&word, codes, sizeof word);
    if (lanes == 8) {
      if (at % 16 == 0)
        even = part(word, at, even);
      else
        odd = part(word, at, odd);
      continue;
    }
    for (std::size_t i = 0; i < 8; i += lanes) {
      auto& sum = i / lanes % 2 == 0 ? even : odd;
      sum = part(word >> (i * bits), at + i, sum);
    }
  }
  return hn::GetLane(hn::SumOfLanes(df, even + odd));
}

}  // namespace kin::index::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kin::index::internal {
namespace {

HWY_EXPORT(dot_one);
HWY_EXPORT(squared_l2_one);
HWY_EXPORT(dot_rows_all);
HWY_EXPORT(hadamard_all);
HWY_EXPORT(from_halves);
HWY_EXPORT(scan_block);
HWY_EXPORT(packed_dot_all);

std::uint16_t half_from_float(float value) {
  const auto word = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(word >> 16 & 0x8000);
  const std::uint32_t magnitude = word & 0x7FFFFFFF;
  // Infinite or not a number; then what rounds to infinity; then subnormal halves.
  if (magnitude >= 0x7F800000) return sign | (magnitude > 0x7F800000 ? 0x7E00 : 0x7C00);
  if (magnitude >= 0x477FF000) return sign | 0x7C00;
  if (magnitude < 0x38800000) {  // subnormal: adding 0.5 leaves the rounded bits at the bottom
    const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
    return sign | static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(shifted) & 0xFFFF);
  }
  // The exponent changes its bias, and half a unit less the last bit kept rounds ties to even.
  const std::uint32_t rounded = magnitude - 0x38000000 + 0xFFF + (magnitude >> 13 & 1);
  return sign | static_cast<std::uint16_t>(rounded >> 13);
}

}  // namespace

float dot(const float* a, const float* b, std::size_t count) {
  return HWY_DYNAMIC_DISPATCH(dot_one)(a, b, count);
}
float squared_l2(const float* a, const float* b, std::size_t count) {
  return HWY_DYNAMIC_DISPATCH(squared_l2_one)(a, b, count);
}
void dot_rows(const float* query, const float* rows, std::size_t stride, std::span<float> out) {
  HWY_DYNAMIC_DISPATCH(dot_rows_all)(query, rows, stride, out);
}
void hadamard(float* values, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(hadamard_all)(values, count);
}
// Written out, so that stored halves are the same on every machine: to nearest, ties to even.
void halves_from_floats(std::span<const float> from, std::uint16_t* to) {
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = half_from_float(from[i]);
}
void floats_from_halves(std::span<const std::uint16_t> from, float* to) {
  HWY_DYNAMIC_DISPATCH(from_halves)(from, to);
}
std::uint32_t scan_signs(const SignScan& scan, float* products) {
  return HWY_DYNAMIC_DISPATCH(scan_block)(scan, products);
}
float packed_dot(const std::uint8_t* codes, unsigned bits, std::span<const float> query) {
  return HWY_DYNAMIC_DISPATCH(packed_dot_all)(codes, bits, query);
}

}  // namespace kin::index::internal
#endif
