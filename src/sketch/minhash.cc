#include "sketch/minhash.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/check.h"
#include "base/hash.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sketch/minhash.cc"  // NOLINT
#include <hwy/foreach_target.h>
// foreach_target.h comes first
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kin::sketch::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Words = hn::ScalableTag<std::uint32_t>;
using WordVector = hn::Vec<Words>;

// Shingles hashed at a time, so that every group of slots finds them in the first-level cache.
constexpr std::size_t kBatch = 1024;

template <class D, class V>
HWY_INLINE V mixed(D, V x) {
  const D d;
  x = hn::Xor(x, hn::ShiftRight<33>(x)) * hn::Set(d, 0xff51afd7ed558ccdULL);
  x = hn::Xor(x, hn::ShiftRight<33>(x)) * hn::Set(d, 0xc4ceb9fe1a85ec53ULL);
  return x;  // the last xor of mix64 leaves the high half as it is
}

// The high halves of mix64 of `count` shingles; `out` has room for whole vectors.
void mix_high_halves(const std::uint64_t* shingles, std::size_t count, std::uint32_t* out) {
  const hn::ScalableTag<std::uint64_t> d;
  const hn::Rebind<std::uint32_t, decltype(d)> half;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto high = hn::ShiftRight<32>(mixed(d, hn::LoadU(d, shingles + i)));
    hn::StoreU(hn::TruncateTo(half, high), half, out + i);
  }
  // The rest that does not fill a vector.
  for (; i < count; ++i) out[i] = static_cast<std::uint32_t>(mix64(shingles[i]) >> 32);
}

// Arguments of the kernel: each slot becomes the minimum of its multiplier times the values.
struct Batch {
  const std::uint32_t* values;
  std::size_t count;
  const std::uint32_t* multipliers;
  std::uint32_t* slots;
};

// Lowers kVectors vectors of slots from `first` on, which stay in registers throughout.
template <std::size_t kVectors>
HWY_INLINE void lower_group(const Batch& batch, std::size_t first) {
  const Words d;
  const std::size_t lanes = hn::Lanes(d);
  WordVector minima[kVectors];
  WordVector factors[kVectors];
  for (std::size_t v = 0; v < kVectors; ++v) {
    minima[v] = hn::LoadU(d, batch.slots + first + v * lanes);
    factors[v] = hn::LoadU(d, batch.multipliers + first + v * lanes);
  }
  for (std::size_t i = 0; i < batch.count; ++i) {
    const auto value = hn::Set(d, batch.values[i]);
    for (std::size_t v = 0; v < kVectors; ++v) {
      minima[v] = hn::Min(minima[v], factors[v] * value);
    }
  }
  for (std::size_t v = 0; v < kVectors; ++v) {
    hn::StoreU(minima[v], d, batch.slots + first + v * lanes);
  }
}

// Lowers as many whole groups of the slots [first, hashes) as there are; returns where they end.
template <std::size_t kVectors>
HWY_INLINE std::size_t lower_groups(const Batch& batch, std::size_t first, std::size_t hashes) {
  const std::size_t group = kVectors * hn::Lanes(Words());
  // The last group of one vector may reach beyond `hashes`, into the padding.
  const std::size_t slack = kVectors == 1 ? group - 1 : 0;
  for (; first + group <= hashes + slack; first += group) lower_group<kVectors>(batch, first);
  return first;
}

void sign(std::span<const std::uint64_t> shingles, const std::uint32_t* multipliers,
          std::uint32_t hashes, std::uint32_t* slots) {
  HWY_ALIGN std::uint32_t values[kBatch];
  for (std::size_t at = 0; at < shingles.size(); at += kBatch) {
    const Batch batch{values, std::min(kBatch, shingles.size() - at), multipliers, slots};
    mix_high_halves(shingles.data() + at, batch.count, values);
    // Eight vectors of minima stay in registers, so that each value is loaded once for all of them.
    // The remaining slots go in smaller groups.
    std::size_t first = lower_groups<8>(batch, 0, hashes);
    first = lower_groups<4>(batch, first, hashes);
    first = lower_groups<2>(batch, first, hashes);
    lower_groups<1>(batch, first, hashes);
  }
}

// The low byte of MurmurHash3's 32-bit finaliser. Minima are small numbers, and their low bits
// depend on the low bits of one shingle only, so neither end will do as it is.
void compact(const std::uint32_t* slots, std::size_t count, std::uint8_t* out) {
  const Words d;
  const hn::Rebind<std::uint8_t, Words> bytes;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    auto x = hn::LoadU(d, slots + i);
    x = hn::Xor(x, hn::ShiftRight<16>(x)) * hn::Set(d, 0x85ebca6bU);
    x = hn::Xor(x, hn::ShiftRight<13>(x)) * hn::Set(d, 0xc2b2ae35U);
    x = hn::Xor(x, hn::ShiftRight<16>(x));
    hn::StoreU(hn::TruncateTo(bytes, x), bytes, out + i);
  }
  for (; i < count; ++i) {
    std::uint32_t x = slots[i];
    x = (x ^ x >> 16) * 0x85ebca6bU;
    x = (x ^ x >> 13) * 0xc2b2ae35U;
    out[i] = static_cast<std::uint8_t>(x ^ x >> 16);
  }
}

std::uint32_t equal_slots(const std::uint8_t* a, const std::uint8_t* b, std::size_t count) {
  const hn::ScalableTag<std::uint8_t> d;
  std::size_t equal = 0;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    equal += hn::CountTrue(d, hn::Eq(hn::LoadU(d, a + i), hn::LoadU(d, b + i)));
  }
  for (; i < count; ++i) equal += a[i] == b[i];
  return static_cast<std::uint32_t>(equal);
}

}  // namespace kin::sketch::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kin::sketch {
namespace {

HWY_EXPORT(sign);
HWY_EXPORT(compact);
HWY_EXPORT(equal_slots);

// The longest vector any target has, in 32-bit lanes.
constexpr std::uint32_t kMostLanes = 64;
// "kindred1" in ASCII. Signatures are on disk, so it never changes.
constexpr std::uint64_t kMultiplierSeed = 0x6B696E6472656431ULL;
constexpr double kChance = 1.0 / 256;

constexpr std::uint32_t padded(std::uint32_t hashes) {
  return (hashes + kMostLanes - 1) / kMostLanes * kMostLanes;
}

}  // namespace

MinHasher::MinHasher(std::uint32_t hashes) : hashes_(hashes), multipliers_(padded(hashes)) {
  KIN_CHECK(hashes >= 1 && hashes <= kMaxHashes, "a signature has 1 to 1024 hashes");
  for (std::uint32_t i = 0; i < multipliers_.size(); ++i) {
    // Odd, so that the multiplication is a bijection modulo 2^32.
    multipliers_[i] = static_cast<std::uint32_t>(mix64(kMultiplierSeed + i) >> 32) | 1;
  }
}

void MinHasher::sign(std::span<const std::uint64_t> shingles,
                     std::span<std::uint32_t> signature) const {
  KIN_CHECK(signature.size() == hashes_, "a signature has a slot for each hash");
  // On the stack and padded: vectors may write beyond the caller's signature.
  alignas(64) std::uint32_t slots[padded(kMaxHashes)];
  // The largest value: every shingle lowers it, and without shingles it stays.
  std::memset(slots, 0xFF, multipliers_.size() * sizeof slots[0]);
  HWY_DYNAMIC_DISPATCH(sign)(shingles, multipliers_.data(), hashes_, slots);
  std::memcpy(signature.data(), slots, signature.size_bytes());
}

void MinHasher::sign_scalar(std::span<const std::uint64_t> shingles,
                            std::span<std::uint32_t> signature) const {
  KIN_CHECK(signature.size() == hashes_, "a signature has a slot for each hash");
  std::fill(signature.begin(), signature.end(), 0xFFFFFFFFU);
  for (const std::uint64_t shingle : shingles) {
    const auto value = static_cast<std::uint32_t>(mix64(shingle) >> 32);
    for (std::size_t i = 0; i < signature.size(); ++i) {
      signature[i] = std::min(signature[i], multipliers_[i] * value);
    }
  }
}

void compact(std::span<const std::uint32_t> signature, std::span<std::uint8_t> out) {
  KIN_CHECK(signature.size() == out.size(), "a compact signature has as many slots");
  HWY_DYNAMIC_DISPATCH(compact)(signature.data(), signature.size(), out.data());
}

std::uint32_t equal_slots(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b) {
  KIN_CHECK(a.size() == b.size(), "signatures of one kind are compared");
  return HWY_DYNAMIC_DISPATCH(equal_slots)(a.data(), b.data(), a.size());
}

double estimate_jaccard(std::uint32_t equal, std::uint32_t slots) {
  if (slots == 0) return 0;
  const double agreeing = static_cast<double>(equal) / slots;
  // Two slots agree if the minima do, or else by chance.
  return std::clamp((agreeing - kChance) / (1 - kChance), 0.0, 1.0);
}

double estimate_deviation(double similarity, std::uint32_t slots) {
  if (slots == 0) return 1;
  const double agreeing = similarity + (1 - similarity) * kChance;
  // The standard deviation of a binomial share, scaled as the estimate is.
  return std::sqrt(agreeing * (1 - agreeing) / slots) / (1 - kChance);
}

}  // namespace kin::sketch
#endif  // HWY_ONCE
