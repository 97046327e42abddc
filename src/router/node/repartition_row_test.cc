#include "router/node/repartition_row.h"

#include <gtest/gtest.h>

namespace kin::router {
namespace {

RepartitionRow made() {
  return {.id = 0x6867666564636261,
          .state = RepartitionRow::State::kDividing,
          .members = {index::PartitionId{3}, index::PartitionId{9}},
          .centroids = {.low = 0x6867666564636261, .high = 0x706f6e6d6c6b6a69},
          .at = index::PartitionId{9},
          .after = index::DocNumber{6},
          .progress = {.looked = 8, .moved = 5}};
}

// A change here is a change of format: raise the version and keep reading the old one.
TEST(RepartitionRowFormat, BytesOnDiskStayAsTheyWere) {
  const std::string bytes = encode(made());
  EXPECT_EQ(bytes.substr(0, bytes.size() - 8), std::string("\x01"
                                                           "abcdefgh\x01"
                                                           "abcdefghijklmnop"
                                                           "\x09\0\0\0\x01\x06\0\0\0"
                                                           "\x08\0\0\0\0\0\0\0"
                                                           "\x05\0\0\0\0\0\0\0"
                                                           "\x03\0\0\0\x09\0\0\0",
                                                           59));
}

TEST(RepartitionRowFormat, DecodesWhatItEncodedAndFindsDamage) {
  EXPECT_EQ(*decode_repartition_row(encode(made())), made());
  EXPECT_EQ(*decode_repartition_row(encode(RepartitionRow{})), RepartitionRow{});
  const std::string bytes = encode(made());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 16);
    EXPECT_FALSE(decode_repartition_row(damaged).ok()) << i;
    EXPECT_FALSE(decode_repartition_row(bytes.substr(0, i)).ok()) << i;
  }
}

}  // namespace
}  // namespace kin::router
