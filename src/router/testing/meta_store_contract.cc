#include "router/testing/meta_store_contract.h"

#include <gmock/gmock.h>

namespace kin::router {

using testing::ElementsAre;
using testing::IsEmpty;

MakeMeta with_contract(MakeMeta make) {
  return make;
}

std::optional<std::uint64_t> MetaStoreContract::swap(std::string_view key, std::uint64_t expected,
                                                     std::optional<std::string_view> bytes) {
  const auto done = meta().swap(key, expected, bytes);
  KIN_CHECK(done.ok(), "the store answers");
  return *done;
}

std::string MetaStoreContract::value(std::string_view key) {
  const auto found = meta().get(key);
  KIN_CHECK(found.ok(), "the store answers");
  return *found ? (*found)->bytes : "-";
}

std::vector<std::string> MetaStoreContract::changed(std::string_view prefix, std::uint64_t after) {
  const auto found = meta().watch(prefix, after, now());
  KIN_CHECK(found.ok(), "the store answers");
  std::vector<std::string> all;
  for (const MetaEntry& entry : found->entries)
    all.push_back(entry.value ? entry.key + "=" + entry.value->bytes : entry.key + "-");
  return all;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(MetaStoreContract);

TEST_P(MetaStoreContract, AValueIsWrittenOnlyOverTheOneThatWasRead) {
  EXPECT_EQ(value("map/a"), "-");
  const auto first = swap("map/a", 0, "one");
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(swap("map/a", 0, "other"), std::nullopt);
  EXPECT_EQ(value("map/a"), "one");
  const auto second = swap("map/a", *first, "two");
  ASSERT_TRUE(second.has_value());
  EXPECT_GT(*second, *first);
  EXPECT_EQ(swap("map/a", *first, "three"), std::nullopt);
  EXPECT_EQ(value("map/a"), "two");
  EXPECT_EQ((*meta().get("map/a"))->revision, *second);
}

TEST_P(MetaStoreContract, AKeyIsRemovedOnlyInTheStateThatWasRead) {
  const auto first = swap("map/a", 0, "one");
  EXPECT_EQ(swap("map/a", *first + 1, std::nullopt), std::nullopt);
  const auto removed = swap("map/a", *first, std::nullopt);
  ASSERT_TRUE(removed.has_value());
  EXPECT_EQ(value("map/a"), "-");
  EXPECT_EQ(swap("map/a", *first, "two"), std::nullopt);  // revisions do not come again
  EXPECT_EQ(swap("map/a", *removed, "two"), std::nullopt);
  EXPECT_TRUE(swap("map/a", 0, std::nullopt).has_value());  // there is nothing to remove
  EXPECT_TRUE(swap("map/a", 0, "two").has_value());
  EXPECT_EQ(value("map/a"), "two");
}

TEST_P(MetaStoreContract, EmptyValuesAreValues) {
  EXPECT_TRUE(swap("map/a", 0, "").has_value());
  EXPECT_EQ(value("map/a"), "");
  EXPECT_EQ(swap("map/a", 0, "x"), std::nullopt);
}

TEST_P(MetaStoreContract, EverythingSurvivesARestart) {
  const auto first = swap("map/a", 0, "one");
  swap("map/b", 0, "two");
  swap("map/a", *first, std::nullopt);
  reached().restart();
  EXPECT_EQ(value("map/a"), "-");
  EXPECT_EQ(value("map/b"), "two");
  EXPECT_THAT(changed("map/", *first), ElementsAre("map/a-", "map/b=two"));
  EXPECT_EQ(swap("map/a", *first, "old"), std::nullopt);
}

TEST_P(MetaStoreContract, WatchersLearnTheLastStateOfWhatChanged) {
  EXPECT_THAT(changed("map/", 0), IsEmpty());
  const auto first = swap("map/a", 0, "one");
  swap("map/b", 0, "two");
  swap("other", 0, "three");
  EXPECT_THAT(changed("map/", 0), ElementsAre("map/a=one", "map/b=two"));
  EXPECT_THAT(changed("map/", *first), ElementsAre("map/b=two"));
  const auto seen = meta().watch("map/", 0, now())->revision;
  EXPECT_THAT(changed("map/", seen), IsEmpty());
  const auto again = swap("map/a", *first, "four");
  swap("map/a", *again, "five");
  EXPECT_THAT(changed("map/", seen), ElementsAre("map/a=five"));
  swap("map/a", (*meta().get("map/a"))->revision, std::nullopt);
  EXPECT_THAT(changed("map/", seen), ElementsAre("map/a-"));
  EXPECT_THAT(changed("map/", 0), ElementsAre("map/b=two"));
}

TEST_P(MetaStoreContract, AWatchEndsWithoutChangesWhenItsTimeIsOver) {
  swap("map/a", 0, "one");
  const auto seen = meta().watch("map/", 0, now())->revision;
  const auto found = meta().watch("map/", seen, now() + std::chrono::milliseconds{5});
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(found->entries, IsEmpty());
  EXPECT_GE(found->revision, seen);
}

}  // namespace kin::router
