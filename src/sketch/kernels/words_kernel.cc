#include "sketch/kernels/words_kernel.h"

#include <bit>
#include <cstring>

#include "sketch/word_hash.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sketch/kernels/words_kernel.cc"  // NOLINT
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
    // The bit that lowers letters is already set in digits; other bytes it changes are never in
    // words.
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

// Appends base plus the number of each set bit; up to 15 more positions are written. Neither form
// has a branch for each bit: no predictor can guess where words end.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
HWY_INLINE std::uint32_t* append_bits(std::uint64_t bits, std::uint32_t base, std::uint32_t* out) {
  const hn::CappedTag<std::uint32_t, 16> d;
  alignas(64) static constexpr std::uint32_t kNumbers[16] = {0, 1, 2,  3,  4,  5,  6,  7,
                                                             8, 9, 10, 11, 12, 13, 14, 15};
  auto positions = hn::Add(hn::Load(d, kNumbers), hn::Set(d, base));
  for (std::size_t i = 0; i < kBlock; i += 16) {
    const auto group = static_cast<std::uint16_t>(bits >> i);
    const auto mask = hn::LoadMaskBits(d, reinterpret_cast<const std::uint8_t*>(&group));
    hn::StoreU(hn::Compress(positions, mask), d, out);
    out += std::popcount(group);
    positions = hn::Add(positions, hn::Set(d, 16));
  }
  return out;
}
#else
HWY_INLINE std::uint32_t* append_bits(std::uint64_t bits, std::uint32_t base, std::uint32_t* out) {
  // With this bit set there is always a bit to find, so the compiler needs no branch for zero.
  constexpr std::uint64_t kLast = std::uint64_t{1} << 63;
  const int count = std::popcount(bits);
  for (int first = 0; first < count; first += 8) {
    for (int i = first; i < first + 8; ++i) {
      out[i] = base + static_cast<std::uint32_t>(std::countr_zero(bits | kLast));
      bits &= bits - 1;
    }
  }
  return out + count;
}
#endif

HWY_NOINLINE std::uint64_t hash_long(const char* word, std::size_t length) {
  return hash_word({word, length});
}

HWY_INLINE std::uint64_t hash_lowered(const char* word, std::size_t length) {
  if (HWY_UNLIKELY(length > kShortWord)) return hash_long(word, length);
  const auto& masks = kByteMasks[length];
  return finish_word(load_le<std::uint64_t>(word) & masks[0],
                     load_le<std::uint64_t>(word + 8) & masks[1], 0, length);
}

// The positions where words begin and end in the piece from scan.at to `end`, alternating and
// relative to scan.at; if a word is open, the first is its end. Sets whether one is open at `end`.
template <WordRule kRule>
HWY_INLINE std::uint32_t* find_edges(WordScan& scan, std::size_t end, std::uint32_t* edge) {
  std::uint64_t carry = scan.in_word ? 1 : 0;
  char* const lowered = scan.lowered + scan.at;
  const char* const text = scan.text + scan.at;
  const auto size = static_cast<std::uint32_t>(end - scan.at);
  std::uint32_t at = 0;
  for (; at + kBlock <= size; at += kBlock) {
    const std::uint64_t words = block_words<kRule>(text + at, lowered + at);
    // An edge is where a bit differs from the one before it. The carry is the last bit of the block
    // before.
    edge = append_bits(words ^ (words << 1 | carry), at, edge);
    carry = words >> 63;
  }
  if (at < size) {
    // The rest of the piece, with spaces behind it: the text may end at a page that cannot be read
    // beyond.
    char padded[kBlock];
    std::memset(padded, ' ', sizeof padded);
    std::memcpy(padded, text + at, size - at);
    const std::uint64_t words = block_words<kRule>(padded, lowered + at);
    edge = append_bits(words ^ (words << 1 | carry), at, edge);
    carry = words >> 63;
  }
  // The end of the text ends its last word.
  if (end == scan.size && carry != 0) {
    *edge++ = size;
    carry = 0;
  }
  scan.in_word = carry != 0;
  return edge;
}

template <WordRule kRule>
std::size_t scan_piece_by(WordScan& scan, std::uint64_t* hashes) {
  const std::size_t end = scan.size - scan.at > kPiece ? scan.at + kPiece : scan.size;
  // An edge at every byte and one at the end; append_bits() writes up to 15 more.
  std::uint32_t edges[kPiece + 1 + 16];
  const bool was_in_word = scan.in_word;
  std::uint32_t* const edges_end = find_edges<kRule>(scan, end, edges);
  const char* const piece = scan.lowered + scan.at;
  std::uint64_t* out = hashes;
  std::uint32_t* edge = edges;
  // The first edge is the end of the word that an earlier piece began.
  if (was_in_word && edge != edges_end) {
    *out++ = hash_lowered(scan.lowered + scan.word, scan.at + *edge++ - scan.word);
  }
  for (; edges_end - edge >= 2; edge += 2)
    *out++ = hash_lowered(piece + edge[0], edge[1] - edge[0]);
  // A last edge without a partner is where an open word begins.
  if (edge != edges_end) scan.word = scan.at + *edge;
  scan.at = end;
  return static_cast<std::size_t>(out - hashes);
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
