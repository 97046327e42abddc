#include "base/doc_id.h"

#include <gtest/gtest.h>

namespace kin {
namespace {

constexpr std::string_view kUuid = "0190163d-8694-739b-aea5-966c26f8ad91";
constexpr std::string_view kUlid = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

TEST(DocId, TakesUuidsAsTheyAreInEitherCase) {
  EXPECT_EQ(to_string(doc_id_of("any", kUuid)), kUuid);
  EXPECT_EQ(doc_id_of("any", kUuid), doc_id_of("other", "0190163D-8694-739B-AEA5-966C26F8AD91"));
}

TEST(DocId, TakesUlidsAsTheyAre) {
  EXPECT_EQ(to_string(doc_id_of("any", kUlid)), "01563e3a-b5d3-d676-4c61-efb99302bd5b");
  EXPECT_EQ(to_string(*parse_ulid("7ZZZZZZZZZZZZZZZZZZZZZZZZZ")),
            "ffffffff-ffff-ffff-ffff-ffffffffffff");
  EXPECT_FALSE(parse_ulid("8ZZZZZZZZZZZZZZZZZZZZZZZZZ"));
  EXPECT_FALSE(parse_ulid("01ARZ3NDEKTSV4RRFFQ69G5FAU"));
  EXPECT_FALSE(parse_ulid("01arz3ndektsv4rrffq69g5fav"));
  EXPECT_FALSE(parse_ulid("01ARZ3NDEKTSV4RRFFQ69G5FA"));
}

// A change here is a change of format: documents would no longer be found.
TEST(DocId, OtherKeysAreHashedWithTheirSource) {
  EXPECT_EQ(to_string(doc_id_of("arxiv", "2101.00001")), "87f4c7f5-61e1-1ecd-cfe3-002fb3bfffc6");
  EXPECT_NE(doc_id_of("a", "bc"), doc_id_of("ab", "c"));
  EXPECT_NE(doc_id_of("", "x"), doc_id_of("x", ""));
  EXPECT_FALSE(parse_uuid("0190163d-8694-739b-aea5-966c26f8ad9"));
  EXPECT_FALSE(parse_uuid("0190163d+8694-739b-aea5-966c26f8ad91"));
  EXPECT_FALSE(parse_uuid("0190163g-8694-739b-aea5-966c26f8ad91"));
}

}  // namespace
}  // namespace kin
