// DynamoClient against two databases that speak its protocol.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <set>

#include "cloud/dynamo_client.h"
#include "cloud/testing/services.h"

namespace kin::cloud {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

const KeySchema kKey{.partition = {.name = "pk"}, .sort = KeyAttribute{.name = "sk"}};

Item key_of(const std::string& partition, const std::string& sort) {
  return {{"pk", partition}, {"sk", sort}};
}

class DynamoClientTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    server_ = start_service(GetParam());
    client_ = std::make_unique<DynamoClient>(test_options(server_->url("")), system_clock(), 1);
    const auto made = client_->create_table(spec_);
    ASSERT_TRUE(made.ok()) << made.error().message;
    has_ttl_ = *made;
  }

  const TableSpec spec_{.name = "items",
                        .key = kKey,
                        .indexes = {{"source-index",
                                     {.partition = {.name = "source"},
                                      .sort = KeyAttribute{"at", KeyType::kNumber}}}},
                        .ttl_attribute = "ttl"};
  std::unique_ptr<net::TestServer> server_;
  std::unique_ptr<DynamoClient> client_;
  bool has_ttl_ = false;
};

TEST_P(DynamoClientTest, MakesTablesAndDescribesThem) {
  EXPECT_EQ(has_ttl_, std::string_view(GetParam()) == "dynoxide");
  // Again, by another worker.
  EXPECT_TRUE(client_->create_table(spec_).ok());
  const auto state = client_->describe_table("items");
  ASSERT_TRUE(state.ok() && *state);
  EXPECT_EQ((*state)->spec.key, spec_.key);
  EXPECT_EQ((*state)->spec.indexes, spec_.indexes);
  EXPECT_TRUE((*state)->active);
  TableSpec other = spec_;
  other.key.sort.reset();
  EXPECT_EQ(client_->create_table(other).error().code, Code::kFailedPrecondition);
  EXPECT_EQ(*client_->describe_table("absent") == std::nullopt, true);
  EXPECT_TRUE(client_->delete_table("items").ok());
  EXPECT_TRUE(client_->delete_table("absent").ok());
  EXPECT_EQ(client_->get("absent", key_of("a", "b")).error().code, Code::kNotFound);
}

TEST_P(DynamoClientTest, KeepsItemsOfEveryType) {
  Item item = key_of("p", "s");
  item.insert({{"text", std::string("\u00e9 \" \\ \n")},
               {"number", std::int64_t{-1'700'000'000'123}},
               {"bytes", Binary{std::string("\0\x01\xff", 3)}},
               {"truth", false}});
  ASSERT_TRUE(client_->put("items", item).ok());
  EXPECT_EQ(*client_->get("items", key_of("p", "s")), item);
  EXPECT_EQ(*client_->get("items", key_of("p", "other")), std::nullopt);
}

TEST_P(DynamoClientTest, PutsAnItemOnce) {
  Item item = key_of("p", "s");
  item.emplace("by", std::string("first"));
  EXPECT_TRUE(*client_->put_if_absent("items", kKey, item));
  item["by"] = std::string("second");
  EXPECT_FALSE(*client_->put_if_absent("items", kKey, item));
  EXPECT_EQ(std::get<std::string>((**client_->get("items", key_of("p", "s"))).at("by")), "first");
}

TEST_P(DynamoClientTest, ReplacesAndRemovesWhatIsAsExpected) {
  Item item = key_of("p", "s");
  item.emplace("version", std::int64_t{1});
  ASSERT_TRUE(*client_->put_if_absent("items", kKey, item));
  Item next = item;
  next["version"] = std::int64_t{2};
  const std::vector<DynamoClient::ConditionalPut> puts{
      {.item = next, .expected = Item{{"version", std::int64_t{1}}}},
      {.item = key_of("p", "other"), .expected = Item{{"version", std::int64_t{1}}}},
      {.item = key_of("p", "third")}};
  EXPECT_THAT(*client_->put_each_if("items", kKey, puts), ElementsAre(true, false, true));
  EXPECT_EQ(*client_->get("items", key_of("p", "s")), next);
  EXPECT_FALSE(*client_->remove_if("items", key_of("p", "s"), {{"version", std::int64_t{1}}}));
  EXPECT_TRUE(*client_->remove_if("items", key_of("p", "s"), {{"version", std::int64_t{2}}}));
  EXPECT_FALSE(*client_->remove_if("items", key_of("p", "s"), {{"version", std::int64_t{2}}}));
  const auto page = client_->scan("items", {{"sk", std::string("third")}}, std::nullopt);
  ASSERT_TRUE(page.ok()) << page.error().message;
  EXPECT_THAT(page->items, ElementsAre(key_of("p", "third")));
}

TEST_P(DynamoClientTest, WritesAndReadsManyItemsInBatches) {
  std::vector<Item> items;
  std::vector<Item> keys;
  for (int i = 0; i < 260; ++i) {
    keys.push_back(key_of("p" + std::to_string(i % 7), fmt::format("s{:03}", i)));
    items.push_back(keys.back());
    items.back().emplace("n", std::int64_t{i});
  }
  const Status put = client_->put_all("items", items);
  ASSERT_TRUE(put.ok()) << put.error().message;
  keys.push_back(key_of("p", "absent"));
  const auto got = client_->get_all("items", keys);
  ASSERT_TRUE(got.ok()) << got.error().message;
  EXPECT_EQ(std::set<Item>(got->begin(), got->end()), std::set<Item>(items.begin(), items.end()));
  ASSERT_TRUE(client_->remove_all("items", keys).ok());
  EXPECT_THAT(*client_->get_all("items", keys), SizeIs(0));
}

TEST_P(DynamoClientTest, QueriesPageByPage) {
  std::vector<Item> items;
  for (int i = 0; i < 25; ++i) items.push_back(key_of("p", fmt::format("a{:02}", i)));
  items.push_back(key_of("p", "b"));
  ASSERT_TRUE(client_->put_all("items", items).ok());
  DynamoQuery query{.table = "items",
                    .partition = std::string("p"),
                    .sort_prefix = "a",
                    .limit = 10,
                    .consistent = true};
  std::vector<Item> found;
  int pages = 0;
  do {
    const auto page = client_->query(query);
    ASSERT_TRUE(page.ok()) << page.error().message;
    found.insert(found.end(), page->items.begin(), page->items.end());
    query.after = page->next;
    ++pages;
  } while (query.after);
  items.pop_back();
  EXPECT_EQ(found, items);
  EXPECT_EQ(pages, 3);
}

TEST_P(DynamoClientTest, AsksSeveralQueriesTogether) {
  std::vector<Item> items;
  std::vector<DynamoQuery> queries;
  for (int p = 0; p < 40; ++p) {
    for (int i = 0; i < p; ++i)
      items.push_back(key_of("p" + std::to_string(p), fmt::format("{:02}", i)));
    queries.push_back({.table = "items", .partition = "p" + std::to_string(p), .limit = 7});
  }
  ASSERT_TRUE(client_->put_all("items", items).ok());
  std::vector<std::size_t> counts(queries.size());
  const Status done = client_->query_all(queries, [&](std::size_t number, std::vector<Item> page) {
    counts[number] += page.size();
    return number != 30;
  });
  ASSERT_TRUE(done.ok()) << done.error().message;
  for (std::size_t p = 0; p < counts.size(); ++p) EXPECT_EQ(counts[p], p == 30 ? 7 : p);
}

// Items of 300 KB each: a page of a query holds 1 MB, and one of a batch 16 MB.
TEST_P(DynamoClientTest, ReadsMoreThanAnAnswerHolds) {
  std::vector<Item> items;
  std::vector<Item> keys;
  for (int i = 0; i < 60; ++i) {
    keys.push_back(key_of("large", fmt::format("{:02}", i)));
    items.push_back(keys.back());
    items.back().emplace("bytes", Binary{std::string(300'000, static_cast<char>(i))});
  }
  ASSERT_TRUE(client_->put_all("items", items).ok());
  EXPECT_THAT(*client_->get_all("items", keys), SizeIs(60));
  std::vector<DynamoQuery> query{{.table = "items", .partition = std::string("large")}};
  std::size_t count = 0;
  std::size_t pages = 0;
  ASSERT_TRUE(client_
                  ->query_all(query,
                              [&](std::size_t, const std::vector<Item>& page) {
                                count += page.size();
                                ++pages;
                                return true;
                              })
                  .ok());
  EXPECT_EQ(count, 60U);
  EXPECT_GT(pages, 10U);
}

TEST_P(DynamoClientTest, QueriesIndexes) {
  for (int i = 0; i < 4; ++i) {
    Item item = key_of("p" + std::to_string(i), "s");
    item.insert(
        {{"source", std::string(i % 2 == 0 ? "even" : "odd")}, {"at", std::int64_t{10 - i}}});
    ASSERT_TRUE(client_->put("items", item).ok());
  }
  const auto page = client_->query({.table = "items",
                                    .index = "source-index",
                                    .partition_name = "source",
                                    .partition = std::string("even")});
  ASSERT_TRUE(page.ok()) << page.error().message;
  ASSERT_THAT(page->items, SizeIs(2));
  // In the order of the index.
  EXPECT_EQ(std::get<std::string>(page->items[0].at("pk")), "p2");
}

TEST_P(DynamoClientTest, SaysWhatIsWrong) {
  const Status wrong = client_->put("items", {{"pk", std::string("p")}});
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().code, Code::kInvalidArgument);
  EXPECT_THAT(wrong.error().message,
              HasSubstr("items: DynamoDB answered with status 400 Validation"));
}

INSTANTIATE_TEST_SUITE_P(Databases, DynamoClientTest, ::testing::Values("dynoxide", "dynalite"),
                         [](const auto& database) { return std::string(database.param); });

}  // namespace
}  // namespace kin::cloud
