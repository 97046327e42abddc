// The vectorised shingler against its plain reference, and signatures against their scalar form.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "sketch/minhash.h"
#include "sketch/shingles.h"
#include "sketch/shingles_reference.h"

namespace {

using kin::sketch::ShingleOptions;
using kin::text::Normalization;

void compare(std::string_view input, const ShingleOptions& options) {
  kin::sketch::Shingler shingler(options);
  const auto found = shingler.shingles(input);
  const auto expected = kin::sketch::shingles_reference(input, options);
  KIN_CHECK(std::equal(found.begin(), found.end(), expected.begin(), expected.end()),
            "shingles are exact");
  const kin::sketch::MinHasher hasher(static_cast<std::uint32_t>(1 + input.size() % 200));
  std::vector<std::uint32_t> fast(hasher.hashes());
  std::vector<std::uint32_t> scalar(hasher.hashes());
  hasher.sign(found, fast);
  hasher.sign_scalar(found, scalar);
  KIN_CHECK(fast == scalar, "signatures are exact");
}

// Long enough for words to lie across the pieces a text is scanned in.
std::string longer(std::string_view input) {
  std::string text(input);
  while (!text.empty() && text.size() < 5'000) text += text;
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const bool valid = kin::text::is_valid_utf8(input);
  for (const auto preset : {Normalization::kNone, Normalization::kLight, Normalization::kStandard,
                            Normalization::kAggressive}) {
    const ShingleOptions words{ShingleOptions::Unit::kWord,
                               1 + static_cast<std::uint32_t>(size % 6), preset};
    const ShingleOptions characters{ShingleOptions::Unit::kChar, 3, preset};
    for (const ShingleOptions& options : {words, characters}) {
      if (valid) {
        compare(input, options);
        if (size % 8 == 0) compare(longer(input), options);
      } else {
        kin::sketch::Shingler(options).shingles(input);
      }
    }
  }
  return 0;
}
