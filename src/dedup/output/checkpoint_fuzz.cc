// Any bytes as a checkpoint or as decisions are accepted or refused; accepted bytes encode to the
// same bytes again.
#include <cstdlib>

#include "base/bytes.h"
#include "base/hash.h"
#include "dedup/output/checkpoint.h"

namespace {

void check(std::string_view bytes) {
  if (const auto checkpoint = kin::dedup::decode_checkpoint(bytes); checkpoint.ok()) {
    if (!kin::dedup::decode_checkpoint(encode(*checkpoint)).ok()) std::abort();
  }
  if (const auto removals = kin::dedup::decode_removals(bytes); removals.ok()) {
    if (kin::dedup::encode_removals(*removals) != bytes) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  check(input);
  // The same bytes with a valid checksum, so that the decoders behind it are reached.
  std::string sealed = kin::dedup::encode_removals({}).substr(0, 6);
  kin::append_le(sealed, kin::checksum(input));
  check(sealed.append(input));
  return 0;
}
