#include "router/shard_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/bytes.h"
#include "base/sized_text.h"

namespace kin::router {
namespace {

using index::PartitionId;
using testing::ElementsAre;

ShardMap made() {
  ShardMap map = spread_partitions("papers", {"one:1", "two:2"}, 5);
  map.epoch = 300;
  for (std::uint32_t i = 0; i < 5; ++i) map.partitions[i].shard = i % 2;
  map.partitions[3] = {.shard = 0, .epoch = 299};
  map.centroids = Hash128{.low = 1, .high = 2};
  map.identities = {{.low = 3, .high = 4}, {.low = 5, .high = 6}};
  map.settings = "{}";
  return map;
}

TEST(ShardMap, EveryShardGetsARangeOfPartitions) {
  const ShardMap map = spread_partitions("papers", {"one:1", "two:2"}, 5);
  EXPECT_THAT(map.partitions_of(0), ElementsAre(PartitionId{0}, PartitionId{1}, PartitionId{2}));
  EXPECT_THAT(map.partitions_of(1), ElementsAre(PartitionId{3}, PartitionId{4}));
  EXPECT_EQ(map.shard_of(PartitionId{3}), 1U);
}

TEST(ShardMap, AShardIsToldOfAllPartitions) {
  const AssignRequest told = made().assignment_of(1);
  ASSERT_EQ(told.owners.size(), 5U);
  EXPECT_FALSE(told.owners[3].owned);
  EXPECT_EQ(told.owners[3].epoch, 299U);
  EXPECT_TRUE(told.owners[1].owned);
}

TEST(ShardMap, HomesAreSpreadAndStayAsTheyAre) {
  const ShardMap map = spread_partitions("papers", {"one:1"}, 4);
  std::map<PartitionId, int> homes;
  for (int i = 0; i < 4'000; ++i) ++homes[map.home_of(doc_id_of("test", std::to_string(i)))];
  for (const auto& [home, count] : homes) EXPECT_NEAR(count, 1'000, 150);
  EXPECT_EQ(map.home_of(doc_id_of("test", "a")), PartitionId{2});
}

// A change here is a change of format: raise the version and keep reading the old one.
TEST(ShardMapFormat, BytesStayAsTheyWere) {
  EXPECT_EQ(hash64(encode(made())), 8047348814174770102ULL);
}

TEST(ShardMapFormat, BytesWithTermsStayAsTheyWere) {
  ShardMap map = made();
  map.terms = {0, 7};
  const std::string bytes = encode(map);
  // Version 2 and the terms behind it.
  std::string expected = encode(made());
  expected.resize(expected.size() - sizeof(std::uint64_t));
  expected[4] = 3;
  for (const std::uint64_t term : map.terms) append_le(expected, term);
  append_le(expected, checksum(expected));
  EXPECT_EQ(bytes, expected);
  EXPECT_EQ(*decode_shard_map(bytes), map);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 16);
    EXPECT_FALSE(decode_shard_map(damaged).ok()) << i;
    EXPECT_FALSE(decode_shard_map(bytes.substr(0, i)).ok()) << i;
  }
}

// A shard joined after the first take-over.
TEST(ShardMapFormat, ShardsWithoutATermGetOne) {
  ShardMap map = made();
  map.terms = {7};
  EXPECT_EQ(map.term_of(1), 0U);
  const auto read = decode_shard_map(encode(map));
  ASSERT_TRUE(read.ok()) << read.error().message;
  map.terms = {7, 0};
  EXPECT_EQ(*read, map);
}

TEST(ShardMap, AShardThatIsTakenOverHasANewAddressAndNewEpochs) {
  const ShardMap map = taken_over(made(), 1, "three:3", 4);
  EXPECT_EQ(map.epoch, 302U);
  EXPECT_EQ(map.shards, (std::vector<std::string>{"one:1", "three:3"}));
  EXPECT_EQ(map.identities, made().identities);
  EXPECT_EQ(map.term_of(0), 0U);
  EXPECT_EQ(map.term_of(1), 4U);
  EXPECT_EQ(map.partitions[1], (PartitionOwner{.shard = 1, .epoch = 302}));
  EXPECT_EQ(map.partitions[3], made().partitions[3]) << "another shard's";
  EXPECT_EQ(made().place_of({.low = 5, .high = 6}), 1U);
  EXPECT_FALSE(made().place_of({.low = 5, .high = 7}));
}

TEST(ShardMap, SaysSinceWhenAShardHasThePartitionsOfItsEntities) {
  ShardMap map = made();
  EXPECT_EQ(map.divided_at(0), 0U);
  map.divided = 290;
  map.dividing = Dividing{.repartition = 8, .members = {PartitionId{1}}};
  const std::uint32_t shard = map.shard_of(PartitionId{1});
  map.partitions[1].epoch = 300;
  EXPECT_EQ(map.divided_at(shard), 300U) << "they change from here on";
  EXPECT_EQ(map.assignment_of(shard).divided, 300U);
  EXPECT_EQ(map.divided_at(1 - shard), 290U) << "another shard's do not";
  map.divided = 310;
  EXPECT_EQ(map.divided_at(shard), 310U);
}

TEST(ShardMapFormat, BytesWithDivisionsStayAsTheyWere) {
  ShardMap map = made();
  map.terms = {0, 7};
  map.homes = 4;
  map.divided = 290;
  map.dividing = Dividing{.repartition = 8, .members = {PartitionId{1}, PartitionId{4}}};
  const std::string bytes = encode(map);
  // Version 2 and what is behind it.
  std::string expected = encode(made());
  expected.resize(expected.size() - sizeof(std::uint64_t));
  expected[4] = 4;
  expected += '\1';
  for (const std::uint64_t term : map.terms) append_le(expected, term);
  append_le(expected, std::uint32_t{4});
  append_le(expected, std::uint64_t{290});
  append_le(expected, std::uint64_t{8});
  append_le(expected, std::uint32_t{2});
  append_le(expected, std::uint32_t{1});
  append_le(expected, std::uint32_t{4});
  append_le(expected, checksum(expected));
  EXPECT_EQ(bytes, expected);
  EXPECT_EQ(*decode_shard_map(bytes), map);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 16);
    EXPECT_FALSE(decode_shard_map(damaged).ok()) << i;
    EXPECT_FALSE(decode_shard_map(bytes.substr(0, i)).ok()) << i;
  }
  map.terms.clear();
  map.dividing.reset();
  EXPECT_EQ(*decode_shard_map(encode(map)), map);
}

TEST(ShardMap, HomesStayWhenPartitionsAreAdded) {
  ShardMap map = spread_partitions("papers", {"one:1"}, 4);
  ShardMap later = map;
  later.homes = 4;
  later.partitions.push_back({.shard = 0, .epoch = 3});
  for (int i = 0; i < 100; ++i) {
    const DocId id = doc_id_of("test", std::to_string(i));
    EXPECT_EQ(later.home_of(id), map.home_of(id));
  }
}

// Written by version 1, which had neither identities nor settings.
TEST(ShardMapFormat, OlderMapsAreRead) {
  std::string old("KMAP");
  append_le(old, std::uint16_t{1});
  append_sized(old, "a");
  append_le(old, std::uint64_t{9});
  old.append(17, '\0');
  append_le(old, std::uint32_t{1});
  append_sized(old, "one:1");
  append_le(old, std::uint32_t{1});
  append_le(old, std::uint32_t{0});
  append_le(old, std::uint64_t{8});
  append_le(old, checksum(old));
  const auto read = decode_shard_map(old);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(*read, (ShardMap{.index = "a",
                             .epoch = 9,
                             .shards = {"one:1"},
                             .partitions = {{.shard = 0, .epoch = 8}}}));
}

TEST(ShardMapFormat, DecodesWhatItEncoded) {
  EXPECT_EQ(*decode_shard_map(encode(made())), made());
  ShardMap plain = made();
  plain.centroids.reset();
  plain.identities.clear();
  EXPECT_EQ(*decode_shard_map(encode(plain)), plain);
}

TEST(ShardMapFormat, DamageIsFound) {
  const std::string bytes = encode(made());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 16);
    EXPECT_FALSE(decode_shard_map(damaged).ok()) << i;
    EXPECT_FALSE(decode_shard_map(bytes.substr(0, i)).ok()) << i;
  }
}

}  // namespace
}  // namespace kin::router
