#include "store/signatures/value_format.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "store/signatures/store_file.h"

namespace kin::store {
namespace {

constexpr std::string_view kIndexMagic = "KINVALIX";
constexpr std::string_view kStore = "store of values";
constexpr std::uint32_t kVersion = 1;
// "kin-frme" in ASCII.
constexpr std::uint64_t kFrameSeed = 0x6b696e2d66726d65ULL;

Error damaged(std::string_view what) {
  return Error{Code::kDataLoss, fmt::format("the {} of the {} is damaged", what, kStore)};
}

std::uint64_t frame_checksum(RecordId id, std::string_view value) {
  // Id and length are part of the sum, so a damaged header fails as well.
  return hash64(value, kFrameSeed ^ mix64(static_cast<std::uint64_t>(id) << 32 | value.size()));
}

}  // namespace

std::string encode_values_header() {
  std::string out(kValuesMagic);
  append_le(out, kVersion);
  out.resize(kValuesHeaderBytes - sizeof(std::uint64_t));
  append_le(out, checksum(out));
  return out;
}

Status decode_values_header(std::string_view bytes) {
  KIN_RETURN_IF_ERROR(check_kind(bytes, {kValuesMagic, "data file", kStore}, kVersion));
  if (bytes.size() != kValuesHeaderBytes || !checked_body(bytes))
    return damaged("data file's header");
  return Done{};
}

std::string encode_frame_header(RecordId id, std::string_view value) {
  std::string out;
  append_le(out, static_cast<std::uint32_t>(id));
  append_le(out, static_cast<std::uint32_t>(value.size()));
  append_le(out, frame_checksum(id, value));
  return out;
}

FrameHeader decode_frame_header(const char* bytes) {
  return {.id = RecordId(load_le<std::uint32_t>(bytes)),
          .length = load_le<std::uint32_t>(bytes + 4),
          .checksum = load_le<std::uint64_t>(bytes + 8)};
}

bool frame_holds(const FrameHeader& header, RecordId id, std::string_view value) {
  return header.id == id && header.length == value.size() &&
         header.checksum == frame_checksum(id, value);
}

std::string encode_index_header(const ValueIndexHeader& header) {
  std::string out(kIndexMagic);
  append_le(out, kVersion);
  append_le(out, header.data_bytes);
  append_le(out, header.entries);
  append_le(out, checksum(out));
  return out;
}

Result<ValueIndexHeader> decode_index_header(std::string_view bytes) {
  KIN_RETURN_IF_ERROR(check_kind(bytes, {kIndexMagic, "index", kStore}, kVersion));
  if (bytes.size() != kValueIndexHeaderBytes || !checked_body(bytes)) return damaged("index");
  ByteReader reader(bytes.substr(kIndexMagic.size() + sizeof kVersion));
  ValueIndexHeader header;
  header.data_bytes = reader.read<std::uint64_t>();
  header.entries = reader.read<std::uint64_t>();
  // One entry a record at most.
  if (header.entries >= static_cast<std::uint32_t>(kNoRecord) + std::uint64_t{1})
    return damaged("index");
  return header;
}

std::string encode_index_block(std::span<const IndexEntry> entries) {
  std::string out;
  out.reserve(index_block_bytes(entries.size()));
  for (const IndexEntry& entry : entries) {
    append_le(out, static_cast<std::uint32_t>(entry.id));
    append_le(out, entry.offset);
  }
  append_le(out, checksum(out));
  return out;
}

Result<std::vector<IndexEntry>> decode_index_block(std::string_view bytes,
                                                   const ValueIndexHeader& header) {
  if (bytes.size() < index_block_bytes(0) || (bytes.size() - index_block_bytes(0)) % 12 != 0 ||
      !checked_body(bytes)) {
    return damaged("index");
  }
  std::vector<IndexEntry> entries((bytes.size() - index_block_bytes(0)) / 12);
  ByteReader reader(bytes);
  for (IndexEntry& entry : entries) {
    entry.id = RecordId(reader.read<std::uint32_t>());
    entry.offset = reader.read<std::uint64_t>();
    // The header of the frame must lie within the data; the frame itself is checked when it is
    // read.
    const bool inside = entry.offset >= kValuesHeaderBytes && entry.offset <= header.data_bytes &&
                        header.data_bytes - entry.offset >= kFrameHeaderBytes;
    if (entry.id == kNoRecord || !inside) return damaged("index");
  }
  return entries;
}

}  // namespace kin::store
