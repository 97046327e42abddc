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

using Shares = std::unordered_map<std::uint64_t, double>;

Shares read_shares() {
  std::vector<std::string> stems;
  for (std::string_view rest = background_words(); !rest.empty();)
    light_stem(stems.emplace_back(take_until(rest, "\n")));
  Shares shares;
  shares.reserve(stems.size());
  double sum = 0;
  for (std::size_t rank = 0; rank < stems.size(); ++rank) {
    const double share = std::pow(static_cast<double>(rank) + kOffset, -kExponent);
    // Words with one stem add up. A hash of 64 bits stands for the stem.
    shares[hash64(stems[rank])] += share;
    sum += share;
  }
  for (auto& [stem, share] : shares) share /= sum;
  return shares;
}

}  // namespace

double background_share(std::string_view stem) {
  static const Shares kShares = read_shares();
  const auto found = kShares.find(hash64(stem));
  return found == kShares.end() ? 0 : found->second;
}

}  // namespace kin::stories
