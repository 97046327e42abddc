#include "router/meta/row_format.h"

#include <gtest/gtest.h>

#include "base/hash.h"

namespace kin::router {
namespace {

TEST(MetaRowFormat, BytesOnDiskStayAsTheyWere) {
  EXPECT_EQ(hash64(encode(MetaRow{.revision = 300, .bytes = "map"})), 1445819374730953741ULL);
  EXPECT_EQ(hash64(encode(MetaRow{.revision = 301})), 1562759563671808058ULL);
}

TEST(MetaRowFormat, DecodesWhatItEncoded) {
  for (const MetaRow& row : {MetaRow{.revision = 7, .bytes = "x"}, MetaRow{.revision = 8},
                             MetaRow{.revision = 9, .bytes = ""}})
    EXPECT_EQ(*decode_meta_row(encode(row)), row);
}

TEST(MetaRowFormat, DamageIsFound) {
  const std::string bytes = encode(MetaRow{.revision = 7, .bytes = "x"});
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 4);
    EXPECT_EQ(decode_meta_row(damaged).error().code, Code::kDataLoss) << i;
    EXPECT_EQ(decode_meta_row(bytes.substr(0, i)).error().code, Code::kDataLoss) << i;
  }
}

}  // namespace
}  // namespace kin::router
