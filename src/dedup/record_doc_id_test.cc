#include "dedup/record_doc_id.h"

#include <gtest/gtest.h>

namespace kin::dedup {
namespace {

TEST(RecordDocId, IsThatOfItsSourceAndId) {
  EXPECT_EQ(record_doc_id("reuters", "a1"), doc_id_of("reuters", "a1"));
  EXPECT_EQ(record_doc_id(std::nullopt, "a1"), doc_id_of("", "a1"));
  EXPECT_NE(record_doc_id("reuters", "a1"), record_doc_id("afp", "a1"));
}

TEST(RecordDocId, NeverChanges) {
  EXPECT_EQ(to_string(*record_doc_id("afp", "0189d2a0-6c1f-7b3e-8a55-3f1c2b4d5e6f")),
            "0189d2a0-6c1f-7b3e-8a55-3f1c2b4d5e6f");
  EXPECT_EQ(to_string(*record_doc_id("afp", "a1")), "9cf30840-81eb-b91e-a3b3-ee51dc79638c");
}

TEST(RecordDocId, ARecordWithoutAnIdHasNone) {
  EXPECT_FALSE(record_doc_id("reuters", std::nullopt));
  EXPECT_FALSE(record_doc_id("reuters", ""));
}

}  // namespace
}  // namespace kin::dedup
