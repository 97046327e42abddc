#include "sketch/banding.h"

#include <fmt/format.h>

#include <cmath>

#include "base/ascii.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "sketch/minhash.h"

namespace kin::sketch {

Result<Banding> parse_banding(std::string_view text) {
  std::string_view rows = text;
  const std::string_view bands = take_until(rows, "x");
  const Banding banding{parse_number<std::uint32_t>(bands).value_or(0),
                        parse_number<std::uint32_t>(rows).value_or(0)};
  const std::uint64_t slots = std::uint64_t{banding.bands} * banding.rows;
  if (slots == 0 || slots > kMaxHashes) {
    return Error{
        Code::kInvalidArgument,
        fmt::format("\"{}\" is not a banding (use BANDSxROWS, such as 16x8, with at most {} slots)",
                    text, kMaxHashes)};
  }
  return banding;
}

std::string to_string(Banding banding) {
  return fmt::format("{}x{}", banding.bands, banding.rows);
}

double candidate_probability(Banding banding, double similarity) {
  // A band agrees with probability s^rows, and one of them is enough.
  return 1 - std::pow(1 - std::pow(similarity, banding.rows), banding.bands);
}

Result<Banding> choose_banding(std::uint32_t hashes, double threshold, double recall) {
  const auto is_share = [](double value) { return value > 0 && value <= 1; };
  if (!is_share(threshold) || !is_share(recall)) {
    return Error{
        Code::kInvalidArgument,
        fmt::format("threshold {} and recall {} must be above 0 and at most 1", threshold, recall)};
  }
  // From the most rows down, so the first banding that finds enough has the fewest false
  // candidates.
  for (std::uint32_t rows = hashes; rows >= 1; --rows) {
    const Banding banding{hashes / rows, rows};
    if (candidate_probability(banding, threshold) >= recall) return banding;
  }
  return Error{
      Code::kInvalidArgument,
      fmt::format("{} hashes find no more than {:.3f} of the pairs at threshold {}, not {} "
                  "(use more --hashes or a higher --threshold)",
                  hashes, candidate_probability({hashes, 1}, threshold), threshold, recall)};
}

void band_keys(std::span<const std::uint32_t> signature, Banding banding,
               std::span<std::uint64_t> keys) {
  KIN_CHECK(signature.size() >= std::size_t{banding.bands} * banding.rows,
            "a banding has no more slots than the signature");
  KIN_CHECK(keys.size() == banding.bands, "there is a key for each band");
  for (std::uint32_t band = 0; band < banding.bands; ++band) {
    // The number of the band seeds the hash, so equal rows of two bands have different keys.
    const auto rows = signature.subspan(std::size_t{band} * banding.rows, banding.rows);
    keys[band] = hash64(as_bytes_view(rows), band + 1);
  }
}

}  // namespace kin::sketch
