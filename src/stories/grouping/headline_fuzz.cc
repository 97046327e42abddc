#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "stories/grouping/headline.h"

// Any bytes give words: none empty, none common, and the same every time.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view title(reinterpret_cast<const char*>(data), size);
  kin::stories::Headline once;
  kin::stories::Headline again;
  kin::stories::read_headline(title, once);
  kin::stories::read_headline(title, again);
  KIN_CHECK(once.words.size() == again.words.size(), "reading has no memory");
  for (std::size_t i = 0; i < once.words.size(); ++i) {
    KIN_CHECK(!once.words[i].stem.empty(), "a word has letters");
    KIN_CHECK(once.words[i].stem == again.words[i].stem, "reading has no memory");
  }
  const std::string_view bare = kin::stories::bare_title(title, title.substr(0, size / 3));
  KIN_CHECK(size == 0 || !bare.empty(), "a title is never lost");
  return 0;
}
