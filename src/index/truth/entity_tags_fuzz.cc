// Hashtags are parts of the text and differ from each other; the key of a key is the key itself.
#include "index/truth/entity_tags.h"

#include <cstdint>
#include <cstdlib>
#include <set>

#include "text/normalize.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kin::index;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::set<std::string> keys;
  for (const std::string& tag : hashtags(text)) {
    if (tag.empty() || text.find("#" + tag) == std::string_view::npos) std::abort();
    if (!keys.insert(tag_key(tag)).second) std::abort();
  }
  if (kin::text::is_valid_utf8(text)) {
    const std::string key = tag_key(text);
    if (tag_key(key) != key) std::abort();
  }
  return 0;
}
