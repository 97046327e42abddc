#include "stories/grouping/background.h"

#include <cmath>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/ascii.h"
#include "base/hash.h"
#include "stories/grouping/light_stem.h"

namespace kin::stories {
namespace {

// Zipf–Mandelbrot, with an exponent that suits headlines: their words are rarer than those of text.
constexpr double kExponent = 1.1;
constexpr double kOffset = 2.7;
// Stems of one letter more are long enough for a prefix of their own.
constexpr std::size_t kPrefixLetters = 5;

struct Shares {
  std::unordered_map<std::uint64_t, double> stems;
  std::unordered_map<std::uint64_t, double> prefixes;
};

double look_up(const std::unordered_map<std::uint64_t, double>& shares, std::string_view text) {
  const auto found = shares.find(hash64(text));
  return found == shares.end() ? 0 : found->second;
}

Shares read_shares() {
  std::vector<std::string> stems;
  for (std::string_view rest = background_words(); !rest.empty();)
    light_stem(stems.emplace_back(take_until(rest, "\n")));
  Shares shares;
  shares.stems.reserve(stems.size());
  double sum = 0;
  for (std::size_t rank = 0; rank < stems.size(); ++rank)
    sum += std::pow(static_cast<double>(rank) + kOffset, -kExponent);
  for (std::size_t rank = 0; rank < stems.size(); ++rank) {
    const double share = std::pow(static_cast<double>(rank) + kOffset, -kExponent) / sum;
    // Words with one stem add up. A hash of 64 bits stands for the stem.
    shares.stems[hash64(stems[rank])] += share;
    const std::string_view prefix = prefix_of(stems[rank]);
    if (!prefix.empty()) shares.prefixes[hash64(prefix)] += share;
  }
  return shares;
}

const Shares& shares() {
  static const Shares kShares = read_shares();
  return kShares;
}

}  // namespace

double background_share(std::string_view stem) {
  return look_up(shares().stems, stem);
}

double background_prefix_share(std::string_view prefix) {
  return look_up(shares().prefixes, prefix);
}

std::string_view prefix_of(std::string_view stem) {
  std::size_t characters = 0;
  std::size_t end = 0;
  for (std::size_t i = 0; i < stem.size(); ++i) {
    // Bytes that continue a character of UTF-8 begin with the bits 10.
    if ((static_cast<unsigned char>(stem[i]) & 0xC0U) == 0x80U) continue;
    if (++characters == kPrefixLetters + 1) end = i;
  }
  return stem.substr(0, end);
}

}  // namespace kin::stories
