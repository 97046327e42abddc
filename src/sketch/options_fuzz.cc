// The parsers of options: an accepted value is written back as the same text.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "sketch/banding.h"
#include "sketch/shingles.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (const auto banding = kin::sketch::parse_banding(input); banding.ok()) {
    const auto again = kin::sketch::parse_banding(kin::sketch::to_string(*banding));
    KIN_CHECK(again.ok() && *again == *banding, "a banding survives writing");
  }
  const auto preset = kin::text::Normalization::kStandard;
  if (const auto options = kin::sketch::parse_shingle(input, preset); options.ok()) {
    const auto again = kin::sketch::parse_shingle(kin::sketch::to_string(*options), preset);
    KIN_CHECK(again.ok() && *again == *options, "shingle options survive writing");
  }
  return 0;
}
