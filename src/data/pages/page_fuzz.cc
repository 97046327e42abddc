// Any bytes as a page header and a page give an error at worst, in every encoding and codec.
#include <cstdint>
#include <string>
#include <vector>

#include "data/pages/page.h"
#include "data/pages/value_reader.h"
#include "data/pages/value_writer.h"

namespace {

using namespace kin::data;

void read_levels(std::string_view bytes, Encoding encoding, int most, std::uint32_t count) {
  LevelReader levels(bytes, encoding, most);
  std::uint32_t to[256];
  for (std::uint32_t left = std::min<std::uint32_t>(count, 100'000); left > 0;) {
    const std::uint32_t some = std::min<std::uint32_t>(left, 256);
    if (!levels.read(to, some)) return;
    left -= some;
  }
}

// Reads the values, and writes them in the same encoding.
void read_values(const ValueType& type, Encoding encoding, std::string_view bytes) {
  const auto reader = make_value_reader(type, encoding, nullptr);
  if (!reader || !(*reader)->open(bytes)) return;
  const auto writer = make_value_writer(type, encoding, 32);
  std::vector<std::string_view> values;
  for (std::size_t total = 0; total < 100'000; total += values.size()) {
    values.clear();
    if (!(*reader)->read(1000, values)) break;
    for (const std::string_view value : values) {
      if (writer->bytes() < 1 << 20) writer->put(value);
    }
  }
  std::string out;
  writer->take(out);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (size < 2) return 0;
  PagePlace page;
  std::size_t used = 0;
  auto header = parse_page_header(bytes.substr(2), used);
  if (!header) return 0;
  page.header = std::move(*header);
  page.header_bytes = static_cast<std::uint32_t>(used);
  const std::string_view stored = bytes.substr(2);
  if (page.header.packed_bytes > stored.size() - used) return 0;
  Leaf leaf;
  leaf.type = {static_cast<Physical>(data[0] % 8), data[0] / 8U};
  leaf.max_definition = data[1] % 4;
  leaf.max_repetition = data[1] / 4 % 4;
  PageCodec codecs;
  PageBuffer unpacked;
  if (page.header.bytes > 1 << 24) return 0;
  const auto body = unpack_page(page, stored.substr(0, used + page.header.packed_bytes), leaf,
                                static_cast<Codec>(data[1] / 16 % 8), codecs, unpacked);
  if (!body) return 0;
  read_levels(body->definition, page.header.definition, leaf.max_definition, page.header.values);
  read_levels(body->repetition, page.header.repetition, leaf.max_repetition, page.header.values);
  for (const Encoding encoding :
       {Encoding::kPlain, Encoding::kRle, Encoding::kRleDictionary, Encoding::kDeltaBinary,
        Encoding::kDeltaLength, Encoding::kDeltaBytes, Encoding::kByteStreamSplit}) {
    read_values(leaf.type, encoding, body->values);
  }
  (void)read_dictionary(leaf.type, body->values, page.header.values);
  return 0;
}
