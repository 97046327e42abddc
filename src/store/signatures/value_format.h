// The files of a store of values: `values.data` (a header, then frames one after the other) and
// `values.index` (where the frame of each record begins, as of the last flush).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace kin::store {

inline constexpr std::string_view kValuesMagic = "KINVALUE";
inline constexpr std::string_view kValuesFileName = "values.data";
inline constexpr std::string_view kValueIndexFileName = "values.index";
inline constexpr std::size_t kValuesHeaderBytes = 32;
inline constexpr std::size_t kFrameHeaderBytes = 16;
inline constexpr std::uint64_t kMaxValueBytes = std::uint64_t{1} << 30;

std::string encode_values_header();
Status decode_values_header(std::string_view bytes);

// A frame is its header, then the value.
struct FrameHeader {
  RecordId id = kNoRecord;
  std::uint32_t length = 0;
  std::uint64_t checksum = 0;
};

std::string encode_frame_header(RecordId id, std::string_view value);
// Decodes any kFrameHeaderBytes bytes; frame_holds() checks them.
FrameHeader decode_frame_header(const char* bytes);
bool frame_holds(const FrameHeader& header, RecordId id, std::string_view value);

struct IndexEntry {
  RecordId id = kNoRecord;
  std::uint64_t offset = 0;
  friend bool operator==(const IndexEntry&, const IndexEntry&) = default;
};

struct ValueIndexHeader {
  std::uint64_t data_bytes = 0;  // of the data file that the index is about
  std::uint64_t entries = 0;
  friend bool operator==(const ValueIndexHeader&, const ValueIndexHeader&) = default;
};

// An index file is its header, then blocks of kIndexBlock entries, the last of them shorter.
inline constexpr std::size_t kIndexBlock = 4096;
inline constexpr std::size_t kValueIndexHeaderBytes = 36;
constexpr std::size_t index_block_bytes(std::size_t entries) {
  return entries * 12 + 8;
}

std::string encode_index_header(const ValueIndexHeader& header);
Result<ValueIndexHeader> decode_index_header(std::string_view bytes);
std::string encode_index_block(std::span<const IndexEntry> entries);
// The entries of a block of exactly index_block_bytes(n) bytes.
Result<std::vector<IndexEntry>> decode_index_block(std::string_view bytes,
                                                   const ValueIndexHeader& header);

}  // namespace kin::store
