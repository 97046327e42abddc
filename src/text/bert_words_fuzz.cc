// Any bytes can be split, and splitting a word again gives the word itself.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "text/bert_words.h"
#include "text/normalize.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const kin::text::BertNormalization options{.clean_text = (data[0] & 1) != 0,
                                             .split_han = (data[0] & 2) != 0,
                                             .lower_case = (data[0] & 4) != 0,
                                             .strip_accents = (data[0] & 8) != 0};
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  kin::text::BertWords cutter(options);
  std::string joined;
  const std::size_t count = cutter.split(input).size();
  for (const std::string_view word : cutter.split(input)) {
    KIN_CHECK(!word.empty(), "a word is not empty");
    joined.append(word).append(" ");
  }
  if (!kin::text::is_valid_utf8(input)) return 0;
  KIN_CHECK(cutter.split(joined).size() == count, "words stay words");
  return 0;
}
