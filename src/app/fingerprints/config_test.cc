#include "app/fingerprints/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kin::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string error_of(std::string_view yaml) {
  const auto config = parse_stores_config(yaml, "conf/kindred.yaml");
  return config ? "" : config.error().message;
}

TEST(StoresConfig, EverySettingIsRead) {
  const auto config = parse_stores_config(R"(
global_fingerprints:
  enabled: true
  backend: dynamodb
  root_path: shared
  storage: {type: s3, bucket: b, prefix: p, region: r, endpoint: "http://127.0.0.1:9000", style: path,
            cache_size: 2GiB}
  dynamodb:
    region: us-east-1
    endpoint: http://127.0.0.1:8000
    simhash_table: s
    minhash_table: m
    chunk_table: c
    processed_table: d
  cache:
    redis: {address: "127.0.0.1:6379", tls: true, password_env: REDIS_PASSWORD}
  ttl_days: {fingerprints: 90, processed: 365}
  priorities:
    types: [article, page]
    sources: [books, web]
  type_column: kind
  language_column: lang
)",
                                          "conf/kindred.yaml");
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(config->backend, StoresConfig::Backend::kDynamoDb);
  EXPECT_EQ(config->root_path, "conf/shared");
  EXPECT_EQ(config->storage.bucket, "b");
  EXPECT_EQ(config->storage.style, StoresConfig::Storage::Style::kPath);
  EXPECT_EQ(config->storage.cache_bytes, std::uint64_t{2} << 30);
  EXPECT_EQ(config->dynamodb.processed_table, "d");
  EXPECT_EQ(config->redis->host, "127.0.0.1");
  EXPECT_EQ(config->redis->port, 6379);
  EXPECT_TRUE(config->redis->tls);
  EXPECT_EQ(config->redis->password_env, "REDIS_PASSWORD");
  EXPECT_EQ(config->fingerprints_ttl, std::chrono::days(90));
  EXPECT_THAT(config->priorities.sources, ElementsAre("books", "web"));
  EXPECT_EQ(config->type_column, "kind");
}

TEST(StoresConfig, LocalIsTheDefault) {
  const auto config = parse_stores_config("global_fingerprints: {}", "kindred.yaml");
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(config->backend, StoresConfig::Backend::kLocal);
  EXPECT_EQ(config->root_path, "fingerprints_global");
  EXPECT_FALSE(config->redis);
}

TEST(StoresConfig, AWrongFileIsRefusedWithItsLine) {
  EXPECT_THAT(error_of("global_fingerprints:\n  backend: dynamo\n"),
              HasSubstr("conf/kindred.yaml:2: global_fingerprints.backend is \"dynamo\", and must "
                        "be one of: dynamodb, local, s3"));
  EXPECT_THAT(error_of("global_fingerprints:\n  backend: local\n  regoin: x\n"),
              HasSubstr("conf/kindred.yaml:3: global_fingerprints.regoin is not a setting"));
  EXPECT_THAT(error_of("global_fingerprints:\n  enabled: maybe\n"), HasSubstr(":2: "));
  EXPECT_THAT(error_of("global_fingerprints:\n  ttl_days: {processed: 0}\n"),
              HasSubstr(":2: global_fingerprints.ttl_days.processed must be a number of days"));
  EXPECT_THAT(error_of("global_fingerprints:\n  dynamodb: [1]\n"), HasSubstr("mapping"));
  EXPECT_THAT(error_of("global_fingerprints:\n  priorities: {sources: web}\n"),
              HasSubstr("must be a list"));
  EXPECT_THAT(error_of("global_fingerprints:\n  cache: {redis: {tls: true}}\n"),
              HasSubstr("cache.redis.address is missing"));
  EXPECT_THAT(error_of("global_fingerprints:\n  cache:\n    redis: {address: localhost}\n"),
              HasSubstr(":3: global_fingerprints.cache.redis.address must be HOST:PORT"));
  EXPECT_THAT(error_of("global_fingerprints:\n  backend: s3\n"),
              HasSubstr("storage.bucket is missing"));
  EXPECT_THAT(
      error_of("global_fingerprints:\n  backend: s3\n  storage: {type: local}\n"),
      HasSubstr(":3: global_fingerprints.storage.type is \"local\", and must be one of: s3"));
  EXPECT_THAT(error_of("global_fingerprints:\n  storage: {cache_size: much}\n"),
              HasSubstr(":2: global_fingerprints.storage.cache_size: "));
  EXPECT_THAT(error_of("other: 1\n"), HasSubstr("global_fingerprints is missing"));
  EXPECT_THAT(error_of("global_fingerprints:\n  - a: [\n"), HasSubstr("conf/kindred.yaml:"));
  EXPECT_THAT(error_of(""), HasSubstr("global_fingerprints is missing"));
}

}  // namespace
}  // namespace kin::app
