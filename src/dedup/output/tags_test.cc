#include "dedup/output/tags.h"

#include <gtest/gtest.h>

namespace kin::dedup {
namespace {

using Value = data::RecordEdits::Value;

// The values of one record.
std::vector<std::optional<Value>> row(const Tags& tags, std::size_t record) {
  std::vector<std::optional<Value>> values;
  for (std::size_t column = 0; column < tags.added().size(); ++column)
    values.push_back(tags.added_value(column, record_id(record)));
  return values;
}

std::optional<Value> integer(std::int64_t value) {
  return Value(value);
}

TEST(Tags, SayWhatWouldBeRemovedAndFor) {
  // Two references; then 2 and 4 are duplicates of 3, and 5 of reference 1; 6 contains a reference;
  // the id of 8 was seen before.
  const std::vector<Removal> removals = {{record_id(2), record_id(3), 0.9F, Method::kMinHash},
                                         {record_id(4), record_id(3), 1, Method::kExact},
                                         {record_id(5), record_id(1), 1, Method::kExact},
                                         {record_id(6), record_id(6), 0.8F, Method::kContains},
                                         {record_id(8), record_id(8), 1, Method::kSeen}};
  const Tags tags("dup_", removals, 2);
  ASSERT_EQ(tags.added().size(), 4U);
  EXPECT_EQ(tags.added()[0].name, "dup_group");
  EXPECT_EQ(tags.added()[3].name, "dup_duplicates");
  using Row = std::vector<std::optional<Value>>;
  EXPECT_EQ(row(tags, 2), (Row{integer(1), Value(false), Value(double{0.9F}), integer(2)}));
  EXPECT_EQ(row(tags, 3), (Row{integer(1), Value(true), std::nullopt, integer(2)}));
  EXPECT_EQ(row(tags, 5), (Row{integer(-2), Value(false), Value(1.0), integer(1)}));
  EXPECT_EQ(row(tags, 6), (Row{std::nullopt, Value(false), Value(double{0.8F}), integer(0)}));
  EXPECT_EQ(row(tags, 7), (Row{std::nullopt, Value(true), std::nullopt, integer(0)}));
  EXPECT_EQ(row(tags, 8), (Row{std::nullopt, Value(false), std::nullopt, integer(0)}));
}

}  // namespace
}  // namespace kin::dedup
