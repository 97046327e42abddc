#include "index/text/packing.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "base/bytes.h"

namespace kin::index {
namespace {

constexpr std::size_t kLanes = 4;
constexpr std::size_t kRows = kPackedNumbers / kLanes;

// A vector of the compiler: one SIMD register where there is one, four words otherwise.
using Vector = std::uint32_t __attribute__((vector_size(16)));

inline Vector load(const std::uint8_t* from, std::size_t index) {
  Vector value;
  std::memcpy(&value, from + index * sizeof value, sizeof value);
  return value;
}

// Row r holds the numbers 4r to 4r + 3, one in each lane. In every lane the rows follow each other
// bit by bit, so one shift and one mask unpack four numbers. Width and row are constants of the
// template: the compiler knows all shifts, and drops the second load where a row ends with a word.
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

template <std::uint32_t kBits, std::size_t kRow>
inline void pack_row(const std::uint32_t* numbers, Vector& word, std::uint8_t* out) {
  constexpr std::size_t kWord = kRow * kBits / 32;
  constexpr std::uint32_t kShift = kRow * kBits % 32;
  Vector value;
  std::memcpy(&value, numbers + kRow * kLanes, sizeof value);
  // `word` collects rows until it is full; the overflow begins the next word.
  word = kShift == 0 ? value : word | value << kShift;
  if constexpr (kShift + kBits >= 32) std::memcpy(out + kWord * sizeof word, &word, sizeof word);
  if constexpr (kShift + kBits > 32) word = value >> (32 - kShift);
}

template <std::uint32_t kBits>
void pack_all(const std::uint32_t* numbers, std::uint8_t* out) {
  if constexpr (kBits > 0) {
    Vector word{};
    [&]<std::size_t... kRow>(std::index_sequence<kRow...>) {
      (pack_row<kBits, kRow>(numbers, word, out), ...);
    }(std::make_index_sequence<kRows>());
  }
}

template <std::size_t... kBits>
constexpr auto unpackers(std::index_sequence<kBits...>) {
  return std::array{&unpack_all<static_cast<std::uint32_t>(kBits)>...};
}
template <std::size_t... kBits>
constexpr auto packers(std::index_sequence<kBits...>) {
  return std::array{&pack_all<static_cast<std::uint32_t>(kBits)>...};
}
// One function for each width from 0 to 32 bits.
constexpr auto kUnpackers = unpackers(std::make_index_sequence<33>());
constexpr auto kPackers = packers(std::make_index_sequence<33>());

constexpr std::size_t controls_of(std::size_t count) {
  return (count + 3) / 4;
}

// Masks by the number of bytes after the first.
constexpr std::array<std::uint32_t, 4> kMasks{0xFF, 0xFFFF, 0xFFFFFF, 0xFFFFFFFF};

// How many bytes the four numbers of a control byte take.
constexpr auto kSizes = [] {
  std::array<std::uint8_t, 256> sizes{};
  for (std::size_t control = 0; control < sizes.size(); ++control) {
    for (std::size_t i = 0; i < 4; ++i)
      sizes[control] = static_cast<std::uint8_t>(sizes[control] + 1 + (control >> 2 * i & 3));
  }
  return sizes;
}();

// `out` has room for controls_of(count) + 4 * count bytes. Returns the number of bytes used.
std::size_t write_numbers(std::span<const std::uint32_t> numbers, char* out) {
  char* data = out + controls_of(numbers.size());
  for (std::size_t i = 0; i < numbers.size(); i += 4) {
    std::uint32_t control = 0;
    for (std::size_t k = 0; k < std::min<std::size_t>(4, numbers.size() - i); ++k) {
      const std::uint32_t number = numbers[i + k];
      const std::uint32_t more = (number > 0xFF) + (number > 0xFFFF) + (number > 0xFFFFFF);
      // Four bytes are written and fewer kept: the next number overwrites the zeros.
      store_le(data, number);
      data += 1 + more;
      control |= more << 2 * k;
    }
    out[i / 4] = static_cast<char>(control);
  }
  return static_cast<std::size_t>(data - out);
}

}  // namespace

std::uint32_t bits_for(const std::uint32_t* numbers) {
  std::uint32_t all = 0;
  for (std::size_t i = 0; i < kPackedNumbers; ++i) all |= numbers[i];
  return static_cast<std::uint32_t>(std::bit_width(all));
}

void pack(const std::uint32_t* numbers, std::uint32_t bits, std::uint8_t* out) {
  kPackers[bits](numbers, out);
}

void unpack(const std::uint8_t* in, std::uint32_t bits, std::uint32_t* numbers) {
  kUnpackers[bits](in, numbers);
}

void append_numbers(std::string& out, std::span<const std::uint32_t> numbers) {
  // Most lists are short: a buffer on the stack is cheaper than resizing the string twice.
  constexpr std::size_t kShort = 32;
  if (numbers.size() <= kShort) {
    std::array<char, controls_of(kShort) + 4 * kShort> bytes;
    out.append(bytes.data(), write_numbers(numbers, bytes.data()));
    return;
  }
  const std::size_t before = out.size();
  out.resize(before + controls_of(numbers.size()) + 4 * numbers.size());
  out.resize(before + write_numbers(numbers, out.data() + before));
}

std::optional<std::size_t> numbers_size(std::string_view bytes, std::uint32_t count) {
  std::size_t size = controls_of(count);
  if (bytes.size() < size) return std::nullopt;
  for (std::uint32_t i = 0; i < count / 4; ++i) size += kSizes[static_cast<std::uint8_t>(bytes[i])];
  for (std::uint32_t i = count / 4 * 4; i < count; ++i)
    size += 1 + (static_cast<std::uint8_t>(bytes[i / 4]) >> 2 * (i % 4) & 3U);
  if (size > bytes.size()) return std::nullopt;
  return size;
}

const std::uint8_t* read_numbers(const std::uint8_t* in, std::uint32_t count,
                                 std::uint32_t* numbers) {
  const std::uint8_t* data = in + controls_of(count);
  for (std::uint32_t i = 0; i < count; i += 4) {
    std::uint32_t control = in[i / 4];
    for (std::uint32_t k = i; k < std::min(count, i + 4); ++k, control >>= 2) {
      // Reads four bytes and masks those of the next numbers: hence kReadAhead.
      numbers[k] = load_le<std::uint32_t>(data) & kMasks[control & 3];
      data += 1 + (control & 3);
    }
  }
  return data;
}

}  // namespace kin::index
