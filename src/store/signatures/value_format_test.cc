#include "store/signatures/value_format.h"

#include <gtest/gtest.h>

#include "base/hash.h"

namespace kin::store {
namespace {

std::vector<IndexEntry> entries() {
  return {{RecordId(7), 32}, {RecordId(9), 100}};
}
constexpr ValueIndexHeader kHeader{.data_bytes = 200, .entries = 2};

// A change here is a change of format: raise the version and keep reading the old one.
TEST(ValueFormat, BytesOnDiskStayAsTheyWere) {
  EXPECT_EQ(hash64(encode_values_header()), 0xafcca8a209c1dcc0ULL);
  EXPECT_EQ(hash64(encode_frame_header(RecordId(7), "some value")), 0xb02ef6633a1cf7e3ULL);
  EXPECT_EQ(hash64(encode_index_header(kHeader)), 0xc1ad761df0cc7cb6ULL);
  EXPECT_EQ(hash64(encode_index_block(entries())), 0xdbedcb61587d2d5dULL);
}

TEST(ValueFormat, DecodesWhatItEncoded) {
  EXPECT_TRUE(decode_values_header(encode_values_header()).ok());
  EXPECT_EQ(*decode_index_header(encode_index_header(kHeader)), kHeader);
  EXPECT_EQ(*decode_index_block(encode_index_block(entries()), kHeader), entries());
  const FrameHeader frame = decode_frame_header(encode_frame_header(RecordId(7), "value").data());
  EXPECT_TRUE(frame_holds(frame, RecordId(7), "value"));
}

TEST(ValueFormat, AFrameHoldsOnlyItsOwnRecordAndValue) {
  const FrameHeader frame = decode_frame_header(encode_frame_header(RecordId(7), "value").data());
  EXPECT_FALSE(frame_holds(frame, RecordId(8), "value"));
  EXPECT_FALSE(frame_holds(frame, RecordId(7), "valuE"));
  EXPECT_FALSE(frame_holds(frame, RecordId(7), "valu"));
}

TEST(ValueFormat, EveryFlippedBitIsFoundOut) {
  const auto flipped = [](std::string bytes, std::size_t bit) {
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
    return bytes;
  };
  for (std::size_t bit = 0; bit < kValuesHeaderBytes * 8; ++bit) {
    ASSERT_FALSE(decode_values_header(flipped(encode_values_header(), bit)).ok());
  }
  for (std::size_t bit = 0; bit < kValueIndexHeaderBytes * 8; ++bit) {
    ASSERT_FALSE(decode_index_header(flipped(encode_index_header(kHeader), bit)).ok());
  }
  for (std::size_t bit = 0; bit < index_block_bytes(2) * 8; ++bit) {
    ASSERT_FALSE(decode_index_block(flipped(encode_index_block(entries()), bit), kHeader).ok());
  }
}

TEST(ValueFormat, EntriesBeyondTheDataAreRefused) {
  const std::vector<IndexEntry> beyond{{RecordId(7), 190}};
  EXPECT_FALSE(decode_index_block(encode_index_block(beyond), kHeader).ok());
  const std::vector<IndexEntry> in_the_header{{RecordId(7), 3}};
  EXPECT_FALSE(decode_index_block(encode_index_block(in_the_header), kHeader).ok());
}

}  // namespace
}  // namespace kin::store
