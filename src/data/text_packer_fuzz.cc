// Bytes that no packer made are refused, and never unpack to more than the limit.
#include "data/text_packer.h"

#include "base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  kin::data::TextPacker packer;
  constexpr std::uint64_t kMost = 1 << 16;
  const auto text = packer.unpack(bytes, kMost);
  if (text) KIN_CHECK(text->size() <= kMost, "a text longer than was asked for");
  const std::string packed(packer.pack(bytes));
  const auto back = packer.unpack(packed, bytes.size());
  KIN_CHECK(back.ok() && *back == bytes, "a text changed");
  return 0;
}
