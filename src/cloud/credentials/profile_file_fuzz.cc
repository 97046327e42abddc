// Profile files of any content: names are never empty, and hold no line end.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "cloud/credentials/profile_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  for (const auto& [name, settings] : kin::cloud::parse_profiles(input)) {
    if (name.empty() || name.find('\n') != std::string::npos) std::abort();
    for (const auto& [key, value] : settings) {
      if (value.find('\n') != std::string::npos) std::abort();
    }
  }
  return 0;
}
