// Bytes that the decoders accept must encode to the same bytes, and refer to existing data.
#include <cstdlib>

#include "store/signatures/value_format.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kin::store;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (decode_values_header(bytes).ok() && bytes != encode_values_header()) std::abort();
  if (const auto header = decode_index_header(bytes); header.ok()) {
    if (encode_index_header(*header) != bytes) std::abort();
  }
  constexpr ValueIndexHeader kHeader{.data_bytes = 1'000'000, .entries = 100};
  if (const auto entries = decode_index_block(bytes, kHeader); entries.ok()) {
    if (encode_index_block(*entries) != bytes) std::abort();
    for (const IndexEntry& entry : *entries) {
      if (entry.offset + kFrameHeaderBytes > kHeader.data_bytes) std::abort();
    }
  }
  if (size >= kFrameHeaderBytes) {
    const FrameHeader frame = decode_frame_header(reinterpret_cast<const char*>(data));
    const std::string_view value = bytes.substr(kFrameHeaderBytes);
    if (frame_holds(frame, frame.id, value) &&
        encode_frame_header(frame.id, value) != bytes.substr(0, kFrameHeaderBytes)) {
      std::abort();
    }
  }
  return 0;
}
