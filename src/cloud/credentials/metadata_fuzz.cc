// Answers of metadata services: credentials with both keys, or an error.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "cloud/credentials/metadata.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto credentials =
      kin::cloud::parse_metadata_answer({reinterpret_cast<const char*>(data), size});
  if (credentials.ok() && (credentials->access_key.empty() || credentials->secret_key.empty()))
    std::abort();
  return 0;
}
