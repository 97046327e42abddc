#include "router/node/directory.h"

#include <gtest/gtest.h>

namespace kin::router {
namespace {

TEST(DirectoryFormat, BytesOnDiskStayAsTheyWere) {
  EXPECT_EQ(encode_place({.partition = index::PartitionId{0x61626364}}), std::string_view("\x01"
                                                                                          "dcba",
                                                                                          5));
  EXPECT_EQ(encode_place({.partition = index::PartitionId{0x61626364}, .since = 7}),
            std::string_view("\x02"
                             "dcba\x07\0\0\0\0\0\0\0",
                             13));
  EXPECT_EQ(encode_divided(7), std::string_view("\x01\x07\0\0\0\0\0\0\0", 9));
  DocId id;
  id.bytes.fill('x');
  EXPECT_EQ(place_key(index::PartitionId{0x61626364}, id), "place/abcdxxxxxxxxxxxxxxxx");
  EXPECT_EQ(encode_identity({.low = 0x6867666564636261, .high = 0x706f6e6d6c6b6a69}),
            "\x01"
            "abcdefghijklmnop");
}

TEST(DirectoryFormat, WhatNoEncoderWroteIsRefused) {
  const std::string bytes = encode_place({.partition = index::PartitionId{7}});
  EXPECT_EQ(*decode_place(bytes), (PlaceRow{.partition = index::PartitionId{7}}));
  const PlaceRow again{.partition = index::PartitionId{7}, .since = 9};
  EXPECT_EQ(*decode_place(encode_place(again)), again);
  EXPECT_EQ(decode_place("\x02" + bytes.substr(1)).error().code, Code::kDataLoss);
  EXPECT_EQ(*decode_divided(encode_divided(9)), 9U);
  EXPECT_EQ(decode_divided("").error().code, Code::kDataLoss);
  EXPECT_EQ(decode_divided(encode_divided(9) + "x").error().code, Code::kDataLoss);
  EXPECT_EQ(decode_divided("\x02" + encode_divided(9).substr(1)).error().code,
            Code::kFailedPrecondition);
  EXPECT_EQ(decode_place("").error().code, Code::kDataLoss);
  EXPECT_EQ(decode_place(bytes + "x").error().code, Code::kDataLoss);
  EXPECT_EQ(decode_place(bytes.substr(0, 4)).error().code, Code::kDataLoss);
  EXPECT_EQ(decode_place("\x03" + bytes.substr(1)).error().code, Code::kFailedPrecondition);
  const std::string identity = encode_identity({.low = 1, .high = 2});
  EXPECT_EQ(*decode_identity(identity), (Hash128{.low = 1, .high = 2}));
  EXPECT_EQ(decode_identity(identity + "x").error().code, Code::kDataLoss);
  EXPECT_EQ(decode_identity("").error().code, Code::kDataLoss);
  EXPECT_EQ(decode_identity("\x02" + identity.substr(1)).error().code, Code::kFailedPrecondition);
}

}  // namespace
}  // namespace kin::router
