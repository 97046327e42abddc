// Any bytes can be examined as a picture.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "stories/feeds/favicon.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto type = kin::stories::sniff_image(bytes);
  // Bytes that start with markup could be interpreted as markup.
  if (type && bytes.starts_with('<')) std::abort();
  return 0;
}
