// Hashes of windows: of every run of a given number of symbols in a sequence. A symbol is the
// 64-bit hash of a word or byte; a sequence is any type with operator[].
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "base/hash.h"

namespace kin::dedup {

// Selects k-grams by winnowing (Schleimer, Wilkerson, Aiken 2003). Every window of `length` symbols
// contains the k-gram that was selected for it, and the choice depends on the symbols of the window
// alone. So two equal windows have equal fingerprints at the same place in them, and these are at
// two different places of the corpus, even if the windows overlap. One thread only.
class WindowSampler {
 public:
  explicit WindowSampler(std::uint32_t length)
      : gram_((length + 1) / 2),
        grams_(length - gram_ + 1),
        ring_(std::bit_ceil(std::size_t{grams_})) {
    for (std::uint32_t i = 1; i < gram_; ++i) leaving_ *= kMultiplier;
  }

  // Calls visit(fingerprint, first, end) for every selected k-gram of the `count` symbols, in
  // order; it was selected for the windows that begin at first … end - 1.
  template <typename Symbols, typename Visit>
  void for_each(const Symbols& symbols, std::size_t count, const Visit& visit) {
    if (count + 1 < std::size_t{gram_} + grams_) return;
    const std::size_t grams = count - gram_ + 1;
    std::uint64_t rolling = 0;
    for (std::size_t i = 0; i + 1 < gram_; ++i) rolling = rolling * kMultiplier + symbols[i];
    Selected least{~std::uint64_t{0}, 0};
    Selected current = least;
    std::size_t first = 0;
    for (std::size_t at = 0; at < grams; ++at) {
      rolling = rolling * kMultiplier + symbols[at + gram_ - 1];
      const std::uint64_t value = mix64(rolling);
      rolling -= symbols[at] * leaving_;
      ring_[at & (ring_.size() - 1)] = value;
      if (value <= least.value) {  // the last of equals
        least = {value, at};
      } else if (least.at + grams_ == at) {
        least = least_of(at + 1 - grams_, at);
      }
      if (at + 1 < grams_) continue;
      const std::size_t window = at + 1 - grams_;
      if (window > 0 && least.at != current.at) {
        visit(current.value, first, window);
        first = window;
      }
      current = least;
    }
    visit(current.value, first, grams - grams_ + 1);
  }

 private:
  static constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15ULL;
  struct Selected {
    std::uint64_t value;
    std::size_t at;
  };

  Selected least_of(std::size_t from, std::size_t to) const {
    Selected least{~std::uint64_t{0}, from};
    for (std::size_t at = from; at <= to; ++at) {
      const std::uint64_t value = ring_[at & (ring_.size() - 1)];
      if (value <= least.value) least = {value, at};
    }
    return least;
  }

  std::uint32_t gram_;               // symbols in a k-gram
  std::uint32_t grams_;              // k-grams in a window
  std::uint64_t leaving_ = 1;        // the factor of a k-gram's first symbol
  std::vector<std::uint64_t> ring_;  // the values of the last k-grams
};

// 96 bits of a window.
struct WindowKey {
  std::uint64_t key = 0;
  std::uint32_t extra = 0;
  friend auto operator<=>(const WindowKey&, const WindowKey&) = default;
};

// Hashes windows one after another, a constant number of steps each. One of the two polynomials is
// modulo the prime 2^61 - 1: modulo 2^64 there are short texts, of two words in the Thue-Morse
// order, whose hashes are equal for every multiplier. Thread-compatible.
class WindowHasher {
 public:
  explicit WindowHasher(std::uint32_t length) : length_(length) {
    for (std::uint32_t i = 1; i < length; ++i) {
      leaving_prime_ = multiply(leaving_prime_, kPrimeBase);
      leaving_ *= kBase;
    }
  }

  // Calls visit(window, key) for the windows that begin at first … end - 1.
  template <typename Symbols, typename Visit>
  void for_each(const Symbols& symbols, std::size_t first, std::size_t end,
                const Visit& visit) const {
    std::uint64_t prime = 0;
    std::uint64_t plain = 0;
    const auto enter = [&](std::uint64_t symbol) {
      prime = reduce(multiply(prime, kPrimeBase) + reduce(symbol));
      plain = plain * kBase + symbol;
    };
    for (std::size_t i = first; i + 1 < first + length_; ++i) enter(symbols[i]);
    for (std::size_t window = first; window < end; ++window) {
      enter(symbols[window + length_ - 1]);
      visit(window, WindowKey{mix64(prime), static_cast<std::uint32_t>(mix64(plain) >> 32)});
      const std::uint64_t leaves = symbols[window];
      prime = reduce(prime + kPrime - multiply(reduce(leaves), leaving_prime_));
      plain -= leaves * leaving_;
    }
  }

 private:
  static constexpr std::uint64_t kPrime = (std::uint64_t{1} << 61) - 1;
  static constexpr std::uint64_t kPrimeBase = 0x0F4C2B7A5D8E9163ULL;
  static constexpr std::uint64_t kBase = 0xD6E8FEB86659FD93ULL;

  static constexpr std::uint64_t reduce(std::uint64_t x) {
    x = (x & kPrime) + (x >> 61);
    return x >= kPrime ? x - kPrime : x;
  }
  static constexpr std::uint64_t multiply(std::uint64_t a, std::uint64_t b) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(a) * b;
    return reduce((static_cast<std::uint64_t>(product) & kPrime) +
                  static_cast<std::uint64_t>(product >> 61));
  }

  std::uint32_t length_;
  std::uint64_t leaving_prime_ = 1;
  std::uint64_t leaving_ = 1;
};

}  // namespace kin::dedup
