#include "data/pages/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/bytes.h"

namespace kin::data {
namespace {

Error damaged(std::string_view what) {
  return {Code::kDataLoss, std::string(what)};
}

// A number of 32 bits that must not be negative.
bool take_number(const ThriftValue& value, int id, std::uint32_t& number) {
  const std::int64_t found = value.number_of(id, -1);
  number = static_cast<std::uint32_t>(found);
  return found >= 0 && found <= INT32_MAX;
}

bool take_encoding(const ThriftValue& value, int id, Encoding& encoding) {
  std::uint32_t number = 0;
  if (!take_number(value, id, number)) return false;
  encoding = static_cast<Encoding>(number);
  // 1 was withdrawn before it was used.
  return number <= static_cast<std::uint32_t>(Encoding::kByteStreamSplit) && number != 1;
}

bool take_data(const ThriftValue* about, PageHeader& header) {
  return about != nullptr && take_number(*about, ids::data_page::kValues, header.values) &&
         take_encoding(*about, ids::data_page::kEncoding, header.encoding) &&
         take_encoding(*about, ids::data_page::kDefinition, header.definition) &&
         take_encoding(*about, ids::data_page::kRepetition, header.repetition);
}

bool take_data_v2(const ThriftValue* about, PageHeader& header) {
  if (about == nullptr) return false;
  const ThriftValue* const compressed = about->field(ids::data_page_v2::kIsCompressed);
  header.compressed = compressed == nullptr || compressed->type == ThriftType::kTrue;
  return take_number(*about, ids::data_page_v2::kValues, header.values) &&
         take_number(*about, ids::data_page_v2::kRows, header.rows) &&
         take_encoding(*about, ids::data_page_v2::kEncoding, header.encoding) &&
         take_number(*about, ids::data_page_v2::kDefinitionBytes, header.definition_bytes) &&
         take_number(*about, ids::data_page_v2::kRepetitionBytes, header.repetition_bytes) &&
         std::uint64_t{header.definition_bytes} + header.repetition_bytes <=
             std::min(header.bytes, header.packed_bytes);
}

bool take_dictionary(const ThriftValue* about, PageHeader& header) {
  return about != nullptr && take_number(*about, ids::dictionary_page::kValues, header.values) &&
         take_encoding(*about, ids::dictionary_page::kEncoding, header.encoding);
}

// Removes the levels from the front of a page of version 1.
bool take_levels(std::string_view& rest, Encoding encoding, int most, std::uint32_t values,
                 std::string_view& levels) {
  levels = {};
  if (most == 0) return true;
  std::uint64_t length = (std::uint64_t{values} * static_cast<unsigned>(level_bits(most)) + 7) / 8;
  if (encoding != Encoding::kBitPacked) {
    if (encoding != Encoding::kRle || rest.size() < 4) return false;
    length = load_le<std::uint32_t>(rest.data());
    rest.remove_prefix(4);
  }
  if (length > rest.size()) return false;
  levels = rest.substr(0, length);
  rest.remove_prefix(length);
  return true;
}

// Divides the unpacked bytes of a page of version 1, which are in `body.values`.
Status split_levels(const PageHeader& header, const Leaf& leaf, PageBody& body) {
  if (take_levels(body.values, header.repetition, leaf.max_repetition, header.values,
                  body.repetition) &&
      take_levels(body.values, header.definition, leaf.max_definition, header.values,
                  body.definition)) {
    return Done{};
  }
  return damaged("the levels of a page are damaged");
}

}  // namespace

Result<PageHeader> parse_page_header(std::string_view bytes, std::size_t& used) {
  PageHeader header;
  KIN_TRY(header.stored, decode_thrift_prefix(bytes, used));
  const ThriftValue& stored = header.stored;
  std::uint32_t kind = 0;
  if (!take_number(stored, ids::page::kKind, kind) ||
      !take_number(stored, ids::page::kBytes, header.bytes) ||
      !take_number(stored, ids::page::kPackedBytes, header.packed_bytes)) {
    return damaged("a page header is incomplete");
  }
  if (const ThriftValue* const crc = stored.field(ids::page::kCrc))
    header.crc = static_cast<std::uint32_t>(crc->number);
  header.kind = static_cast<PageKind>(kind);
  bool good = true;
  switch (header.kind) {
    case PageKind::kData: good = take_data(stored.field(ids::page::kData), header); break;
    case PageKind::kDataV2: good = take_data_v2(stored.field(ids::page::kDataV2), header); break;
    case PageKind::kDictionary:
      good = take_dictionary(stored.field(ids::page::kDictionary), header);
      break;
    case PageKind::kIndex: break;
    default: break;  // a kind of a later version, which readers pass over
  }
  if (!good) return damaged("a page header is wrong");
  return header;
}

Result<PagePlace> PageWalk::read_header() {
  constexpr std::uint64_t kUsual = 256;
  constexpr std::uint64_t kMost = 16 << 20;  // statistics in the header may be long
  const std::uint64_t end = chunk_.begin + chunk_.bytes;
  std::string bytes;
  for (std::uint64_t wanted = kUsual;; wanted *= 8) {
    const std::uint64_t count = std::min({wanted, end - at_, kMost});
    bytes.resize(count);
    KIN_RETURN_IF_ERROR(file_.read_at(at_, bytes.data(), count));
    PagePlace place;
    place.begin = at_;
    std::size_t used = 0;
    auto header = parse_page_header(bytes, used);
    if (!header && used == 0 && count == wanted) continue;
    if (!header) return header.error();
    place.header = std::move(*header);
    place.header_bytes = static_cast<std::uint32_t>(used);
    if (place.header.packed_bytes > end - at_ - used)
      return damaged("a page reaches beyond the end of its column");
    return place;
  }
}

Result<std::optional<PagePlace>> PageWalk::next() {
  const std::uint64_t end = chunk_.begin + chunk_.bytes;
  while (values_ < chunk_.values) {
    if (at_ >= end) return damaged("a column has fewer values than it should");
    KIN_TRY(PagePlace place, read_header());
    at_ += place.header_bytes + std::uint64_t{place.header.packed_bytes};
    if (!place.header.is_data() && place.header.kind != PageKind::kDictionary) continue;
    place.first_value = values_;
    if (place.header.is_data()) {
      values_ += place.header.values;
      if (values_ > chunk_.values) return damaged("a column has more values than it should");
    } else if (values_ > 0) {
      return damaged("a dictionary follows the values");
    }
    return std::optional(std::move(place));
  }
  return std::optional<PagePlace>();
}

Status read_page(const File& file, const PagePlace& page, PageBuffer& to) {
  const std::size_t size = page.header_bytes + std::size_t{page.header.packed_bytes};
  char* const begin = to.reset(size);
  if (begin == nullptr) return no_memory(size);
  KIN_RETURN_IF_ERROR(file.read_at(page.begin, begin, size));
  if (page.header.crc && *page.header.crc != page_crc(to.view().substr(page.header_bytes)))
    return damaged("the checksum of a page is wrong");
  return Done{};
}

Result<PageBody> unpack_page(const PagePlace& page, std::string_view stored, const Leaf& leaf,
                             Codec codec, PageCodec& codecs, PageBuffer& unpacked) {
  const PageHeader& header = page.header;
  std::string_view packed = stored.substr(page.header_bytes);
  PageBody body;
  std::size_t size = header.bytes;
  if (header.kind == PageKind::kDataV2) {
    body.repetition = packed.substr(0, header.repetition_bytes);
    body.definition = packed.substr(header.repetition_bytes, header.definition_bytes);
    const std::size_t levels = body.repetition.size() + body.definition.size();
    packed.remove_prefix(levels);
    size -= levels;
  }
  if (codec == Codec::kNone || !header.compressed) {
    if (packed.size() != size) return damaged("the size of a page is wrong");
    body.values = packed;
  } else if (packed.empty() && size == 0) {
    body.values = packed;  // some writers compress nothing to nothing
  } else {
    KIN_RETURN_IF_ERROR(codecs.unpack(codec, packed, size, unpacked));
    body.values = unpacked.view();
  }
  if (header.kind == PageKind::kData) KIN_RETURN_IF_ERROR(split_levels(header, leaf, body));
  return body;
}

Result<PageBody> divide_page(const PagePlace& page, std::string_view levels,
                             std::string_view unpacked, const Leaf& leaf) {
  const PageHeader& header = page.header;
  PageBody body;
  body.values = unpacked;
  if (header.kind == PageKind::kData) {
    KIN_RETURN_IF_ERROR(split_levels(header, leaf, body));
    return body;
  }
  body.repetition = levels.substr(0, header.repetition_bytes);
  body.definition = levels.substr(header.repetition_bytes, header.definition_bytes);
  return body;
}

bool is_streamed(const PageHeader& header, Codec codec) {
  constexpr std::uint32_t kLarge = 4 << 20;
  return codec == Codec::kSnappy && header.kind == PageKind::kData && !header.crc &&
         header.packed_bytes >= kLarge;
}

Result<PageBody> load_page(const File& file, const PagePlace& page, const Leaf& leaf, Codec codec,
                           PageCodec& codecs, PageBuffer& stored, PageBuffer& unpacked) {
  const PageHeader& header = page.header;
  if (!is_streamed(header, codec)) {
    KIN_RETURN_IF_ERROR(read_page(file, page, stored));
    return unpack_page(page, stored.view(), leaf, codec, codecs, unpacked);
  }
  KIN_RETURN_IF_ERROR(codecs.unpack_snappy(file, page.begin + page.header_bytes,
                                           header.packed_bytes, header.bytes, unpacked));
  return divide_page(page, {}, unpacked.view(), leaf);
}

int level_bits(int most) {
  return std::bit_width(static_cast<unsigned>(most));
}

LevelReader::LevelReader(std::string_view bytes, Encoding encoding, int most)
    : runs_(bytes, level_bits(most)),
      bits_(bytes),
      width_(level_bits(most)),
      most_(static_cast<std::uint32_t>(most)),
      old_(encoding == Encoding::kBitPacked) {}

bool LevelReader::read(std::uint32_t* to, std::size_t count) {
  if (most_ == 0) {
    std::fill_n(to, count, 0);
    return true;
  }
  if (!old_) {
    if (!runs_.read(to, count)) return false;
  } else {
    for (std::size_t i = 0; i < count; ++i) {
      to[i] = 0;
      for (int bit = 0; bit < width_; ++bit, ++at_) {
        if (at_ / 8 >= bits_.size()) return false;
        to[i] = to[i] << 1 | (static_cast<std::uint8_t>(bits_[at_ / 8]) >> (7 - at_ % 8) & 1);
      }
    }
  }
  return std::all_of(to, to + count, [&](std::uint32_t level) { return level <= most_; });
}

}  // namespace kin::data
