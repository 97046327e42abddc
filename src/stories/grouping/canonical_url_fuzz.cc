#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "stories/grouping/canonical_url.h"

// Any bytes give an address, and canonicalising it again changes nothing.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const std::string& url : {std::string(bytes), "https://" + std::string(bytes)}) {
    const std::string once = kin::stories::canonical_url(url);
    if (once.empty()) continue;
    KIN_CHECK(kin::stories::canonical_url("https://" + once) == once,
              "a canonical address is canonical");
    KIN_CHECK(once.find('#') == std::string::npos, "a canonical address has no fragment");
  }
  return 0;
}
