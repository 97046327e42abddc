// Looks at any bytes as a picture.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "stories/feeds/favicon.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto type = kin::stories::sniff_image(bytes);
  // What starts with markup could be taken for markup.
  if (type && bytes.starts_with('<')) std::abort();
  return 0;
}
