#include "index/text_packing.h"

#include <array>
#include <bit>
#include <cstring>
#include <utility>

namespace kin::index {
namespace {

constexpr std::size_t kLanes = 4;
constexpr std::size_t kRows = kPackedNumbers / kLanes;

// The compiler makes what the processor has of it, or four words.
using Vector = std::uint32_t __attribute__((vector_size(16)));

inline Vector load(const std::uint8_t* from, std::size_t index) {
  Vector value;
  std::memcpy(&value, from + index * sizeof value, sizeof value);
  return value;
}

template <std::uint32_t kBits, std::size_t kRow>
inline void unpack_row(const std::uint8_t* in, std::uint32_t* numbers) {
  constexpr std::uint32_t kMask = kBits == 32 ? ~0U : (1U << kBits) - 1;
  constexpr std::size_t kWord = kRow * kBits / 32;
  constexpr std::uint32_t kShift = kRow * kBits % 32;
  Vector value = load(in, kWord) >> kShift;
  if constexpr (kShift + kBits > 32) value |= load(in, kWord + 1) << (32 - kShift);
  value &= kMask;
  std::memcpy(numbers + kRow * kLanes, &value, sizeof value);
}

template <std::uint32_t kBits>
void unpack_all(const std::uint8_t* in, std::uint32_t* numbers) {
  if constexpr (kBits == 0) {
    std::memset(numbers, 0, kPackedNumbers * sizeof *numbers);
  } else {
    [&]<std::size_t... kRow>(std::index_sequence<kRow...>) {
      (unpack_row<kBits, kRow>(in, numbers), ...);
    }(std::make_index_sequence<kRows>());
  }
}

template <std::size_t... kBits>
constexpr auto unpackers(std::index_sequence<kBits...>) {
  return std::array{&unpack_all<static_cast<std::uint32_t>(kBits)>...};
}
constexpr auto kUnpackers = unpackers(std::make_index_sequence<33>());

}  // namespace

std::uint32_t bits_for(const std::uint32_t* numbers) {
  std::uint32_t all = 0;
  for (std::size_t i = 0; i < kPackedNumbers; ++i) all |= numbers[i];
  return static_cast<std::uint32_t>(std::bit_width(all));
}

void pack(const std::uint32_t* numbers, std::uint32_t bits, std::uint8_t* out) {
  std::memset(out, 0, packed_bytes(bits));
  for (std::size_t i = 0; i < kPackedNumbers; ++i) {
    const std::size_t bit = i / kLanes * bits;
    std::uint64_t word = 0;
    const auto place = [&](std::size_t index) { return out + (index * kLanes + i % kLanes) * 4; };
    const std::uint64_t shifted = std::uint64_t{numbers[i]} << bit % 32;
    std::memcpy(&word, place(bit / 32), bits > 0 ? 4 : 0);
    word |= shifted & 0xFFFFFFFF;
    std::memcpy(place(bit / 32), &word, bits > 0 ? 4 : 0);
    if (bit % 32 + bits <= 32) continue;
    word = shifted >> 32;
    std::memcpy(place(bit / 32 + 1), &word, 4);
  }
}

void unpack(const std::uint8_t* in, std::uint32_t bits, std::uint32_t* numbers) {
  kUnpackers[bits](in, numbers);
}

}  // namespace kin::index
