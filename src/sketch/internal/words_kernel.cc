#include "sketch/internal/words_kernel.h"

#include <bit>
#include <cstring>

#include "sketch/word_hash.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sketch/internal/words_kernel.cc"  // NOLINT
#include <hwy/foreach_target.h>
// foreach_target.h comes first
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kin::sketch::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t kBlock = 64;
using Bytes = hn::CappedTag<std::uint8_t, kBlock>;
using ByteVector = hn::Vec<Bytes>;

// Unsigned `value - low <= span`, by minimum: AVX2 has no unsigned comparison.
HWY_INLINE hn::Mask<Bytes> in_range(ByteVector value, std::uint8_t low, std::uint8_t high) {
  const Bytes d;
  const auto offset = hn::Sub(value, hn::Set(d, low));
  return hn::Eq(hn::Min(offset, hn::Set(d, static_cast<std::uint8_t>(high - low))), offset);
}

HWY_INLINE hn::Mask<Bytes> is_high(ByteVector value) {
  const Bytes d;
  const hn::RebindToSigned<Bytes> ds;
  return hn::RebindMask(d, hn::Lt(hn::BitCast(ds, value), hn::Zero(ds)));
}

template <WordRule kRule>
HWY_INLINE hn::Mask<Bytes> word_bytes(ByteVector value, std::uint8_t* lowered) {
  const Bytes d;
  if constexpr (kRule == WordRule::kNotSpace) {
    hn::StoreU(value, d, lowered);
    return hn::Not(hn::Or(in_range(value, '\t', '\r'), hn::Eq(value, hn::Set(d, ' '))));
  } else {
    const auto high = is_high(value);
    // Digits have the bit that lowers a letter; what else it changes is in no word.
    const auto lower = hn::Or(value, hn::Set(d, 0x20));
    hn::StoreU(hn::IfThenElse(high, value, lower), d, lowered);
    const auto ascii = hn::Or(in_range(lower, 'a', 'z'), in_range(value, '0', '9'));
    return hn::Or(high, ascii);
  }
}

// One bit a byte of the block, set in words.
template <WordRule kRule>
HWY_INLINE std::uint64_t block_words(const char* from, char* lowered) {
  const Bytes d;
  std::uint64_t words = 0;
  for (std::size_t i = 0; i < kBlock; i += hn::Lanes(d)) {
    const auto value = hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(from) + i);
    const auto mask = word_bytes<kRule>(value, reinterpret_cast<std::uint8_t*>(lowered) + i);
    std::uint64_t bits = 0;
    hn::StoreMaskBits(d, mask, reinterpret_cast<std::uint8_t*>(&bits));
    words |= bits << i;
  }
  return words;
}

// Appends the positions of the set bits. Eight are written at a time, whether or not there are as
// many: cheaper than a branch for each.
HWY_INLINE std::size_t* append_bits(std::uint64_t bits, std::size_t base, std::size_t* out) {
  std::size_t* const end = out + std::popcount(bits);
  while (bits != 0) {
    for (int i = 0; i < 8; ++i) {
      out[i] = base + static_cast<std::size_t>(std::countr_zero(bits));
      bits &= bits - 1;
    }
    out += 8;
  }
  return end;
}

HWY_INLINE std::uint64_t hash_lowered(const char* word, std::size_t length) {
  if (HWY_UNLIKELY(length > kShortWord)) return hash_word({word, length});
  const auto& masks = kByteMasks[length];
  return finish_word(load_le<std::uint64_t>(word) & masks[0],
                     load_le<std::uint64_t>(word + 8) & masks[1], 0, length);
}

template <WordRule kRule>
std::size_t scan_piece_by(WordScan& scan, std::uint64_t* hashes) {
  const std::size_t end = scan.size - scan.at > kPiece ? scan.at + kPiece : scan.size;
  // Where words begin and end, in turn.
  std::size_t edges[kPiece + 2 + 8];
  edges[0] = scan.word;
  std::size_t* edge = edges + (scan.in_word ? 1 : 0);
  std::uint64_t carry = scan.in_word ? 1 : 0;
  const auto take = [&](const char* block, std::size_t at) HWY_ATTR {
    const std::uint64_t words = block_words<kRule>(block, scan.lowered + at);
    edge = append_bits(words ^ (words << 1 | carry), at, edge);
    carry = words >> 63;
  };
  std::size_t at = scan.at;
  for (; at + kBlock <= end; at += kBlock) take(scan.text + at, at);
  if (at < end) {
    char padded[kBlock];
    std::memset(padded, ' ', sizeof padded);
    std::memcpy(padded, scan.text + at, end - at);
    take(padded, at);
  }
  if (end == scan.size && carry != 0) *edge++ = end;
  const auto count = static_cast<std::size_t>(edge - edges);
  for (std::size_t i = 0; i < count / 2; ++i) {
    const std::size_t begin = edges[2 * i];
    hashes[i] = hash_lowered(scan.lowered + begin, edges[2 * i + 1] - begin);
  }
  scan.at = end;
  scan.in_word = count % 2 != 0;
  if (scan.in_word) scan.word = edges[count - 1];
  return count / 2;
}

std::size_t scan_piece(WordScan& scan, std::uint64_t* hashes) {
  return scan.rule == WordRule::kNotSpace ? scan_piece_by<WordRule::kNotSpace>(scan, hashes)
                                          : scan_piece_by<WordRule::kAlphanumeric>(scan, hashes);
}

// In place: a vector of shingles is stored after the units it is made of were loaded, and later
// ones are made of later units.
void fold_shingles(std::uint64_t* hashes, std::size_t count, std::size_t size) {
  const hn::ScalableTag<std::uint64_t> d;
  const auto multiplier = hn::Set(d, kShingleMultiplier);
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    auto shingle = hn::LoadU(d, hashes + i);
    for (std::size_t unit = 1; unit < size; ++unit) {
      shingle = shingle * multiplier + hn::LoadU(d, hashes + i + unit);
    }
    hn::StoreU(shingle, d, hashes + i);
  }
}

}  // namespace kin::sketch::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kin::sketch {
namespace {
HWY_EXPORT(scan_piece);
HWY_EXPORT(fold_shingles);
}  // namespace

std::size_t scan_piece(WordScan& scan, std::uint64_t* hashes) {
  return HWY_DYNAMIC_DISPATCH(scan_piece)(scan, hashes);
}

std::size_t fold_shingles(std::span<std::uint64_t> units, std::size_t size) {
  const std::size_t count = units.size() - size + 1;
  HWY_DYNAMIC_DISPATCH(fold_shingles)(units.data(), count, size);
  return count;
}

}  // namespace kin::sketch
#endif  // HWY_ONCE
