#include "index/vector/format.h"

#include <gtest/gtest.h>

#include "base/hash.h"
#include "index/vector/kernels.h"

namespace kin::index::internal {
namespace {

constexpr VectorSpace kSpace{.dimension = 5,
                             .distance = Distance::kL2,
                             .storage = RawStorage::kElsewhere,
                             .bits = 4,
                             .seed = 9};

VectorCheckpointHead head_of() {
  VectorCheckpointHead head{
      .space = kSpace, .lsn = 77, .trained = 12, .curve = {}, .sums = {1, 2}, .pending = {}};
  head.curve.share.assign(kCurvePoints, 0.25F);
  head.curve.reach.assign(kCurvePoints, 0.5F);
  head.pending.push_back({6, {1, 2, 3, 4, 5}});
  head.pending.back().rotated.resize(padded_dimension(5));
  return head;
}

std::string cell_bytes() {
  const Encoder encoder(kSpace);
  Posting posting(kSpace, encoder.full_error_ratio(), 2);
  const std::vector<float> centre{0.5F, 0, 0, -0.5F, 1};
  VectorCode code;
  encoder.encode(std::vector<float>{1, -2, 3, -4, 5}, centre, code);
  posting.set(0, 40, code);
  encoder.encode(std::vector<float>{0, 0, 1, 0, 0}, centre, code);
  posting.set(1, 41, code);
  posting.finish();
  return encode_cell(3, centre, posting);
}

TEST(VectorFormat, KeepsEveryFieldOfAHead) {
  const VectorCheckpointHead head = head_of();
  const auto again = decode_head(encode_head(head));
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->space, head.space);
  EXPECT_EQ(again->lsn, 77U);
  EXPECT_EQ(again->trained, 12U);
  EXPECT_EQ(again->curve.reach, head.curve.reach);
  EXPECT_EQ(again->sums, head.sums);
  ASSERT_EQ(again->pending.size(), 1U);
  EXPECT_EQ(again->pending[0].rotated, head.pending[0].rotated);
}

TEST(VectorFormat, StaysAsItIs) {
  EXPECT_EQ(encode_head(head_of()).size(), 12U + 15 + 16 + 4 + 2 * 404 + 4 + 16 + 4 + 24 + 8);
  EXPECT_EQ(checksum(encode_head(head_of())), 12583041432648946005ULL);
  EXPECT_EQ(cell_bytes().size(), 12U + 4 + 20 + 12 + 8 + 32 + 192 + 16 + 4 + 8);
  EXPECT_EQ(checksum(cell_bytes()), 10216978065773318265ULL);
}

TEST(VectorFormat, NoticesEveryChangedByte) {
  for (const std::string& bytes : {encode_head(head_of()), cell_bytes()}) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      std::string broken = bytes;
      broken[i] = static_cast<char>(broken[i] ^ 0x10);
      EXPECT_FALSE(decode_head(broken).ok());
      EXPECT_FALSE(decode_cell(kSpace, 1, 3, broken).ok());
    }
    EXPECT_FALSE(decode_head(bytes.substr(0, bytes.size() / 2)).ok());
  }
  EXPECT_TRUE(decode_cell(kSpace, 1, 3, cell_bytes()).ok());
  EXPECT_FALSE(decode_cell(kSpace, 1, 4, cell_bytes()).ok());
}

}  // namespace
}  // namespace kin::index::internal
