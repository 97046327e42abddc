#include "sketch/simhash.h"

#include <algorithm>
#include <array>

#include "base/hash.h"

namespace kin::sketch {
namespace {

// 64 counters of eight bits, bit-sliced: bit b of plane p is bit p of counter b, so one addition
// to all of them is a few word operations.
class BitCounters {
 public:
  static constexpr std::size_t kMost = 255;

  void add(std::uint64_t bits) {
    // A ripple-carry adder for 64 counters at once.
    for (std::uint64_t& plane : planes_) {
      const std::uint64_t carry = plane & bits;
      plane ^= bits;
      bits = carry;
    }
  }

  std::uint64_t count(int bit) const {
    std::uint64_t total = 0;
    for (std::size_t p = 0; p < planes_.size(); ++p) total |= (planes_[p] >> bit & 1) << p;
    return total;
  }

 private:
  std::array<std::uint64_t, 8> planes_{};
};

}  // namespace

std::uint64_t simhash64(std::span<const std::uint64_t> features) {
  std::array<std::uint64_t, 64> totals{};
  // In portions that cannot overflow a counter.
  for (std::size_t first = 0; first < features.size(); first += BitCounters::kMost) {
    BitCounters counters;
    const std::size_t count = std::min(BitCounters::kMost, features.size() - first);
    for (const std::uint64_t feature : features.subspan(first, count)) counters.add(mix64(feature));
    for (int bit = 0; bit < 64; ++bit) totals[static_cast<std::size_t>(bit)] += counters.count(bit);
  }
  std::uint64_t hash = 0;
  for (std::size_t bit = 0; bit < 64; ++bit) {
    if (2 * totals[bit] > features.size()) hash |= std::uint64_t{1} << bit;
  }
  return hash;
}

}  // namespace kin::sketch
