#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/check.h"
#include "base/hash.h"
#include "stories/grouping/state_format.h"

// Any bytes with a valid checksum give an error, or a state that encodes to the same bytes; and a
// grouper refuses that state or works with it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  kin::append_le(bytes, kin::checksum(bytes));
  auto state = kin::stories::decode_state(bytes);
  if (!state) return 0;
  KIN_CHECK(kin::stories::encode_state(*state).size() == bytes.size(), "nothing was passed over");
  auto grouper = kin::stories::Grouper::restore({}, *std::move(state));
  if (!grouper) return 0;
  grouper->add({.id = kin::stories::ItemId{~std::uint64_t{0}}, .title = "Ferry Olympia stranded"});
  return 0;
}
