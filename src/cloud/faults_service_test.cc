// The clients behind a proxy that checks every signature and injects faults: their results equal
// those of a map in memory.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include "base/random.h"
#include "cloud/dynamo_client.h"
#include "cloud/resp_client.h"
#include "cloud/s3_client.h"
#include "cloud/testing/fault_proxy.h"
#include "cloud/testing/services.h"

namespace kin::cloud {
namespace {

using ::testing::Contains;
using ::testing::Gt;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;

void expect_every_fault(const std::map<std::string, int>& counts, const std::string& faults) {
  for (std::string_view rest = faults; !rest.empty();) {
    const std::string_view part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    EXPECT_THAT(counts, Contains(Pair(std::string(part.substr(0, part.find('='))), Gt(0))));
  }
  EXPECT_THAT(counts, Not(Contains(Key("refused"))));
}

class S3Faults : public ::testing::TestWithParam<S3Options::Style> {};

TEST_P(S3Faults, ChangeNoResult) {
  const FaultProxy proxy("s3rver", {"bucket"}, {"--faults", kHttpFaults});
  S3Client client(proxy.options(), {.bucket = "bucket", .style = GetParam()}, system_clock(), 1);
  std::map<std::string, std::string> model;
  Random random(static_cast<std::uint64_t>(GetParam()) + 1);
  constexpr const char* kKeys[] = {
      "a", "b/c", "b/d e", "f+g=h&i", "(j)!*'k", "\u00e9/\u6f22", "l%41", "m~n;o,p", "q:@$"};
  for (int i = 0; i < 300; ++i) {
    const std::string key = kKeys[random.below(std::size(kKeys))];
    const std::string value(random.below(5000), static_cast<char>('a' + i % 26));
    const bool there = model.contains(key);
    switch (random.below(6)) {
      case 0: {
        const Status put = client.put(key, value);
        ASSERT_TRUE(put.ok()) << put.error().message;
        model[key] = value;
        break;
      }
      case 1: {
        const auto created = client.put_if_absent(key, value);
        ASSERT_TRUE(created.ok()) << created.error().message;
        ASSERT_EQ(*created, !there) << key;
        model.try_emplace(key, value);
        break;
      }
      case 2: {
        const auto got = client.get(key);
        ASSERT_TRUE(got.ok()) << got.error().message;
        ASSERT_EQ(*got, there ? std::optional(model[key]) : std::nullopt);
        break;
      }
      case 3: {
        const auto info = client.head(key);
        ASSERT_TRUE(info.ok()) << info.error().message;
        ASSERT_EQ(info->has_value(), there);
        break;
      }
      case 4: {
        const auto page = client.list("b/");
        ASSERT_TRUE(page.ok()) << page.error().message;
        const auto expected = std::ranges::count_if(
            model, [](const auto& entry) { return entry.first.starts_with("b/"); });
        ASSERT_EQ(page->objects.size(), static_cast<std::size_t>(expected));
        break;
      }
      default: {
        const Status removed = client.remove(key);
        ASSERT_TRUE(removed.ok()) << removed.error().message;
        model.erase(key);
      }
    }
  }
  expect_every_fault(proxy.counts(), kHttpFaults);
}

TEST_P(S3Faults, LeaveUploadsWhole) {
  const FaultProxy proxy("s3rver", {"bucket"}, {"--faults", kHttpFaults, "--seed", "3"});
  S3Client client(proxy.options(),
                  {.bucket = "bucket", .style = GetParam(), .part_bytes = std::uint64_t{5} << 20},
                  system_clock(), 1);
  std::string bytes((std::size_t{5} << 20) * 4 + 12'345, '\0');
  Random random(5);
  for (char& c : bytes) c = static_cast<char>(random.next());
  std::size_t at = 0;
  const Status done = client.upload("large", [&](std::span<char> into) -> Result<std::size_t> {
    const std::size_t count = bytes.copy(into.data(), into.size(), at);
    at += count;
    return count;
  });
  ASSERT_TRUE(done.ok()) << done.error().message;
  std::vector<ByteRange> ranges;
  for (std::uint64_t from = 0; from < bytes.size(); from += 1 << 20)
    ranges.push_back({from, std::min<std::uint64_t>(1 << 20, bytes.size() - from)});
  const auto parts = client.get_ranges("large", ranges);
  ASSERT_TRUE(parts.ok()) << parts.error().message;
  std::string joined;
  for (const std::string& part : *parts) joined += part;
  EXPECT_TRUE(joined == bytes);
  EXPECT_THAT(proxy.counts(), Not(Contains(Key("refused"))));
}

TEST_P(S3Faults, OneOfManyClientsCreatesAnObject) {
  const FaultProxy proxy("s3rver", {"bucket"}, {"--faults", kHttpFaults, "--seed", "4"});
  for (int round = 0; round < 5; ++round) {
    std::atomic<int> winners{0};
    std::vector<std::thread> threads;
    for (std::uint64_t i = 0; i < 6; ++i) {
      threads.emplace_back([&, i] {
        S3Client client(proxy.options(), {.bucket = "bucket", .style = GetParam()}, system_clock(),
                        100 + i);
        const auto won =
            client.put_if_absent("manifest-" + std::to_string(round), "by " + std::to_string(i));
        EXPECT_TRUE(won.ok());
        winners += won.ok() && *won ? 1 : 0;
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(winners, 1);
  }
}

TEST_P(S3Faults, AWrongClockIsCorrected) {
  const FaultProxy proxy("s3rver", {"bucket"}, {"--skew", "7200"});
  S3Client client(proxy.options(), {.bucket = "bucket", .style = GetParam()}, system_clock(), 1);
  ASSERT_TRUE(client.put("k", "v").ok());
  EXPECT_EQ(*client.get("k"), "v");
  // Once, not for every request.
  EXPECT_EQ(proxy.counts()["skewed"], 1);
}

TEST_P(S3Faults, AWrongSecretIsRefused) {
  const FaultProxy proxy("s3rver", {"bucket"}, {});
  CloudOptions options = proxy.options();
  options.credentials.fixed->secret_key = "another";
  S3Client client(options, {.bucket = "bucket", .style = GetParam()}, system_clock(), 1);
  EXPECT_EQ(client.put("k", "v").error().code, Code::kFailedPrecondition);
  EXPECT_EQ(proxy.counts()["refused"], 1);
}

INSTANTIATE_TEST_SUITE_P(Styles, S3Faults,
                         ::testing::Values(S3Options::Style::kVirtualHost, S3Options::Style::kPath),
                         [](const auto& style) {
                           return style.param == S3Options::Style::kPath ? "Path" : "VirtualHost";
                         });

const std::string kDynamoFaults = std::string(kHttpFaults) + ",corrupt=0.04,unprocessed=0.3";
const KeySchema kKey{.partition = {.name = "pk"}, .sort = KeyAttribute{.name = "sk"}};

Item key_of(std::uint64_t partition, std::uint64_t sort) {
  return {{"pk", fmt::format("p{}", partition)}, {"sk", fmt::format("s{:03}", sort)}};
}

class DynamoFaults : public ::testing::TestWithParam<const char*> {};

TEST_P(DynamoFaults, ChangeNoResult) {
  const FaultProxy proxy(GetParam(), {}, {"--faults", kDynamoFaults});
  DynamoClient client(proxy.options(), system_clock(), 1);
  const auto made = client.create_table({.name = "table", .key = kKey});
  ASSERT_TRUE(made.ok()) << made.error().message;
  std::map<Item, Item> model;  // by key
  Random random(9);
  for (std::int64_t i = 0; i < 150; ++i) {
    switch (random.below(5)) {
      case 0: {
        std::map<Item, Item> some;
        for (std::uint64_t n = random.below(60); n > 0; --n) {
          const Item key = key_of(random.below(4), random.below(100));
          Item item = key;
          item.insert({{"n", i}, {"b", Binary{std::string(random.below(300), '\xfe')}}});
          some[key] = item;
        }
        std::vector<Item> items;
        for (const auto& [key, item] : some) items.push_back(item);
        const Status put = client.put_all("table", items);
        ASSERT_TRUE(put.ok()) << put.error().message;
        for (auto& [key, item] : some) model[key] = item;
        break;
      }
      case 1: {
        Item item = key_of(random.below(4), random.below(100));
        const Item key = item;
        item.emplace("once", i);
        const auto put = client.put_if_absent("table", kKey, item);
        ASSERT_TRUE(put.ok()) << put.error().message;
        ASSERT_EQ(*put, !model.contains(key));
        model.try_emplace(key, item);
        break;
      }
      case 2: {
        std::set<Item> keys;
        for (std::uint64_t n = random.below(150); n > 0; --n)
          keys.insert(key_of(random.below(4), random.below(100)));
        const auto got = client.get_all("table", {keys.begin(), keys.end()});
        ASSERT_TRUE(got.ok()) << got.error().message;
        std::set<Item> expected;
        for (const Item& key : keys) {
          if (model.contains(key)) expected.insert(model[key]);
        }
        ASSERT_EQ(std::set<Item>(got->begin(), got->end()), expected);
        ASSERT_EQ(got->size(), expected.size());
        break;
      }
      case 3: {
        std::vector<DynamoQuery> queries;
        for (int p = 0; p < 4; ++p)
          queries.push_back({.table = "table",
                             .partition = fmt::format("p{}", p),
                             .limit = 9,
                             .consistent = true});
        std::vector<Item> found;
        const Status asked = client.query_all(queries, [&](std::size_t, std::vector<Item> page) {
          std::ranges::move(page, std::back_inserter(found));
          return true;
        });
        ASSERT_TRUE(asked.ok()) << asked.error().message;
        ASSERT_EQ(found.size(), model.size());
        for (const Item& item : found) {
          const Item key{{"pk", item.at("pk")}, {"sk", item.at("sk")}};
          ASSERT_EQ(model[key], item);
        }
        break;
      }
      default: {
        std::set<Item> keys;
        for (std::uint64_t n = random.below(30); n > 0; --n)
          keys.insert(key_of(random.below(4), random.below(100)));
        const Status removed = client.remove_all("table", {keys.begin(), keys.end()});
        ASSERT_TRUE(removed.ok()) << removed.error().message;
        for (const Item& key : keys) model.erase(key);
      }
    }
  }
  expect_every_fault(proxy.counts(), kDynamoFaults);
  EXPECT_GT(client.counts().throttles, 0U);
  EXPECT_GT(client.counts().retries, 0U);
}

TEST_P(DynamoFaults, OneOfManyClientsPutsAnItem) {
  const FaultProxy proxy(GetParam(), {}, {"--faults", kDynamoFaults, "--seed", "2"});
  DynamoClient first(proxy.options(), system_clock(), 1);
  ASSERT_TRUE(first.create_table({.name = "table", .key = kKey}).ok());
  for (std::uint64_t round = 0; round < 10; ++round) {
    std::atomic<int> winners{0};
    std::vector<std::thread> threads;
    for (std::uint64_t i = 0; i < 6; ++i) {
      threads.emplace_back([&, i] {
        DynamoClient client(proxy.options(), system_clock(), 100 + i);
        Item item = key_of(0, round);
        item.emplace("by", static_cast<std::int64_t>(i));
        const auto won = client.put_if_absent("table", kKey, item);
        EXPECT_TRUE(won.ok());
        winners += won.ok() && *won ? 1 : 0;
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(winners, 1);
  }
}

TEST_P(DynamoFaults, AServiceThatOnlyThrottlesIsGivenUp) {
  const FaultProxy proxy(GetParam(), {}, {"--faults", "throttle=1"});
  CloudOptions options = proxy.options();
  options.retry.tries = 5;
  DynamoClient client(options, system_clock(), 1);
  EXPECT_EQ(client.get("table", key_of(0, 0)).error().code, Code::kResourceExhausted);
  EXPECT_EQ(client.counts().requests, 5U);
  EXPECT_EQ(client.counts().throttles, 5U);
}

INSTANTIATE_TEST_SUITE_P(Databases, DynamoFaults, ::testing::Values("dynoxide", "dynalite"),
                         [](const auto& database) { return std::string(database.param); });

TEST(RespFaults, GiveAnErrorOrTheRightReplies) {
  const FaultProxy proxy("redis", {}, {"--faults", "reset=0.5,slow=0.2"});
  RespClient client({.port = static_cast<std::uint16_t>(proxy.port()),
                     .connect = std::chrono::minutes(1),
                     .answer = std::chrono::minutes(1)});
  Random random(3);
  int failures = 0;
  int right = 0;
  for (int i = 0; i < 200; ++i) {
    std::vector<RespCommand> commands;
    for (std::uint64_t n = 1 + random.below(40); n > 0; --n)
      commands.push_back({"ECHO", std::string(random.below(300), static_cast<char>('a' + i % 26))});
    const auto replies = client.call(commands);
    if (!replies) {
      EXPECT_EQ(replies.error().code, Code::kUnavailable) << replies.error().message;
      ++failures;
      continue;
    }
    ++right;
    ASSERT_EQ(replies->size(), commands.size());
    for (std::size_t n = 0; n < commands.size(); ++n) ASSERT_EQ((*replies)[n].text, commands[n][1]);
  }
  EXPECT_GT(failures, 0);
  EXPECT_GT(right, 0);
}

}  // namespace
}  // namespace kin::cloud
