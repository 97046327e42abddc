// Bytes that are not a tail are refused; others encode to the same bytes. Any bytes may be read as
// a block.
#include <cstdlib>

#include "base/bytes.h"
#include "store/segments/manifest.h"
#include "store/segments/segment_format.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kin;         // NOLINT: a fuzzer is one small file
  using namespace kin::store;  // NOLINT
  std::string bytes(reinterpret_cast<const char*>(data), size);
  std::size_t seen = 0;
  (void)each_entry(bytes, [&](std::string_view key, std::string_view value) {
    seen += key.size() + value.size();
    return true;
  });
  if (seen > size) std::abort();
  // With a valid checksum appended, so that the fields are reached.
  append_le(bytes, checksum(bytes));
  if (const auto tail = SegmentTail::decode(bytes)) {
    if (tail->encode() != bytes) std::abort();
    if (const auto block = tail->block_of("k"); block && *block >= tail->blocks().size())
      std::abort();
  }
  if (const auto manifest = decode_table_manifest(bytes)) {
    if (encode(*manifest) != bytes) std::abort();
  }
  return 0;
}
