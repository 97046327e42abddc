#include "index/record.h"

#include <gtest/gtest.h>

#include "base/hash.h"

namespace kin::index {
namespace {

DocId id(std::uint8_t byte) {
  DocId made;
  made.bytes.fill(byte);
  return made;
}

std::vector<Record> all_kinds() {
  EntityRecord entity{.version = {.epoch = 2, .lsn = 300},
                      .partition = PartitionId{7},
                      .assigned = {.epoch = 1, .lsn = 5}};
  entity.entity = {
      .id = id(1),
      .key = "key",
      .source = "source",
      .title = "Title",
      .text = "Text",
      .tags = {"one", "two"},
      .attributes = {{"a", std::string("v")}, {"b", std::int64_t{-3}}, {"c", 0.5}, {"d", true}},
      .vectors = {{"words", {1.5F, -2.0F}}, {"model", {3.0F}}},
      .valid = {.from = 10, .until = 20},
      .summaries = {"short"}};
  EntityRecord deleted{.deleted = true, .version = {.epoch = 3, .lsn = 1}};
  deleted.entity.id = id(2);
  EdgeRecord edge{.version = {.epoch = 1, .lsn = 8}};
  edge.edge.id = {.from = id(1), .name = "cites", .to = id(2), .since = -4};
  EdgeRecord removed = edge;
  removed.deleted = true;
  edge.edge.until = 1'000;
  edge.edge.weight = 0.25;
  edge.edge.summary = "because";
  const FragmentRecord said{.id = id(1),
                            .fragment = {.time = -7, .text = "said"},
                            .content = hash64("said"),
                            .version = {.epoch = 0, .lsn = 9}};
  const FragmentRecord unsaid{.id = id(1),
                              .name = "cites",
                              .to = id(2),
                              .fragment = {.time = 7},
                              .content = 99,
                              .deleted = true,
                              .version = {.epoch = 0, .lsn = 10}};
  return {entity,
          deleted,
          edge,
          removed,
          said,
          unsaid,
          OwnerRecord{.partition = PartitionId{4}, .epoch = 12}};
}

TEST(Record, ComesBackFromBytes) {
  const std::vector<Record> records = all_kinds();
  const auto decoded = decode_records(encode(records));
  ASSERT_TRUE(decoded.ok()) << decoded.error().message;
  EXPECT_EQ(*decoded, records);
  EXPECT_TRUE(decode_records(encode({}))->empty());
}

// A change here is a change of format: raise the version and keep reading the old one.
TEST(Record, BytesStayAsTheyWere) {
  EXPECT_EQ(hash64(encode(all_kinds())), 0x8381417c8d992297ULL);
}

TEST(Record, RefusesDamage) {
  const std::string bytes = encode(all_kinds());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    EXPECT_FALSE(decode_records(damaged).ok()) << "byte " << i;
    EXPECT_FALSE(decode_records(std::string_view(bytes).substr(0, i)).ok()) << "byte " << i;
  }
}

TEST(Record, RefusesALaterVersion) {
  std::string bytes = encode(all_kinds());
  bytes[8] = 2;
  bytes.resize(bytes.size() - 8);
  append_le(bytes, checksum(bytes));
  EXPECT_EQ(decode_records(bytes).error().code, Code::kFailedPrecondition);
}

TEST(Record, IsCheckedLikeAMutation) {
  EntityRecord entity;
  EXPECT_FALSE(check(entity).ok());  // no key
  entity.deleted = true;
  EXPECT_TRUE(check(entity).ok());
  EXPECT_FALSE(check(EdgeRecord{.deleted = true}).ok());                   // no name
  EXPECT_FALSE(check(FragmentRecord{.fragment = {.text = "said"}}).ok());  // another hash
}

}  // namespace
}  // namespace kin::index
