// A UUID survives printing and parsing; a ULID is its own document id.
#include <cstdint>
#include <cstdlib>

#include "base/doc_id.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kin;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto id = parse_uuid(text); id && parse_uuid(to_string(*id)) != id) std::abort();
  if (parse_ulid(text) && parse_ulid(text) != doc_id_of("any", text)) std::abort();
  return 0;
}
