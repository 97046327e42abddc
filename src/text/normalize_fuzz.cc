// The fast normalisation and word splitting against their plain reference.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "text/normalize.h"
#include "text/reference.h"
#include "text/words.h"

namespace {

using kin::text::Normalization;

void compare(std::string_view input, Normalization preset) {
  std::string fast;
  kin::text::normalize(input, preset, fast);
  KIN_CHECK(kin::text::is_valid_utf8(fast), "normalised text is valid UTF-8");
  KIN_CHECK(fast == kin::text::normalize_reference(input, preset), "normalisation is exact");
  std::string twice;
  kin::text::normalize(fast, preset, twice);
  KIN_CHECK(twice == fast, "normalisation is idempotent");
  std::vector<std::string_view> words;
  kin::text::split_words(fast, preset, words);
  const std::vector<std::string> expected = kin::text::words_reference(input, preset);
  KIN_CHECK(std::equal(words.begin(), words.end(), expected.begin(), expected.end()),
            "words are exact");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const bool valid = kin::text::is_valid_utf8(input);
  for (const auto preset : {Normalization::kNone, Normalization::kLight, Normalization::kStandard,
                            Normalization::kAggressive}) {
    if (valid) {
      compare(input, preset);
      continue;
    }
    std::string out;
    kin::text::normalize(input, preset, out);
    kin::text::WordSpacer spacer(preset);
    spacer.space(input);
  }
  return 0;
}
