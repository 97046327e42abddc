#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/hash.h"
#include "search/index_config.h"

// Any bytes are an error, or settings that are written back unchanged; also with a corrected
// checksum.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto as_is = kin::search::decode_config(bytes);
  static_cast<void>(as_is);
  std::string sealed(bytes.substr(0, bytes.find('\n')));
  char sum[18];
  std::snprintf(sum, sizeof sum, "%016llx\n",
                static_cast<unsigned long long>(kin::checksum(sealed)));
  sealed += "\n";
  sealed += sum;
  if (const auto config = kin::search::decode_config(sealed)) {
    const std::string again = kin::search::encode(*config);
    const auto twice = kin::search::decode_config(again);
    KIN_CHECK(twice.ok() && kin::search::encode(*twice) == again, "settings keep their meaning");
  }
  return 0;
}
