// Hashtags are parts of the text, differ from each other, and keys of keys are themselves.
#include "index/truth/entity_tags.h"

#include <cstdint>
#include <cstdlib>
#include <set>

#include "base/doc_id.h"
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
  if (const auto id = parse_uuid(text); id && parse_uuid(to_string(*id)) != id) std::abort();
  if (parse_ulid(text) && parse_ulid(text) != doc_id_of("any", text)) std::abort();
  return 0;
}
