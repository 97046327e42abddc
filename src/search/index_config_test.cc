#include "search/index_config.h"

#include <gtest/gtest.h>

namespace kin::search {
namespace {

IndexConfig full() {
  IndexConfig config{.embed = {embed::EmbedderKind::kGiven},
                     .main = {.name = "main", .dimension = 512, .distance = index::Distance::kL2},
                     .more = {{.name = "audio", .dimension = 64, .bits = 4}},
                     .language = "german"};
  config.dedup = index::NearDuplicateOptions{
      .threshold = 0.85, .action = index::NearDuplicateOptions::Action::kRefuse};
  return config;
}

TEST(IndexConfig, IsReadAsItWasWritten) {
  const auto read = decode_config(encode(full()));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(encode(*read), encode(full()));
  EXPECT_EQ(read->more, full().more);
  EXPECT_EQ(read->dedup->threshold, 0.85);
}

TEST(IndexConfig, IsWrittenAsTheFormatSays) {
  EXPECT_EQ(
      encode(IndexConfig{}),
      R"({"version":1,"embed":"corpus","main":{"name":"main","dimension":0,"distance":"cosine",)"
      R"("bits":7,"storage":"disk"},"more":[],"language":"english","dedup":null})"
      "\na6f675b7136f9109\n");
}

TEST(IndexConfig, NamesTheModelThatNodesKeep) {
  IndexConfig config;
  EXPECT_FALSE(node_shard_options(config).ok());
  config.main.dimension = 20;
  config.model = Hash128{.low = 0x0123456789abcdef, .high = 0xfe};
  const std::string bytes = encode(config);
  EXPECT_NE(bytes.find(R"("dedup":null,"model":"00000000000000fe0123456789abcdef"})"),
            std::string::npos)
      << bytes;
  const auto read = decode_config(bytes);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->model, config.model);
  const auto options = node_shard_options(*read);
  ASSERT_TRUE(options.ok()) << options.error().message;
  EXPECT_EQ(options->spaces.at(0).space.dimension, 20U);
}

TEST(IndexConfig, NamesAServerInOneWay) {
  for (const char* server : {"https://a.example/v1#m", "http:https://a.example/v1#m"}) {
    IndexConfig config;
    ASSERT_TRUE(choose_vectors(config, server, 0).ok());
    EXPECT_EQ(config.embed.text(), "http:https://a.example/v1#m");
    EXPECT_EQ(config.main.storage, index::RawStorage::kElsewhere);
  }
}

TEST(IndexConfig, NoticesDamageAndOtherVersions) {
  std::string bytes = encode(full());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    EXPECT_FALSE(decode_config(damaged).ok()) << i;
  }
  EXPECT_FALSE(decode_config("").ok());
  EXPECT_FALSE(decode_config(bytes.substr(0, bytes.size() - 3)).ok());
}

TEST(IndexConfig, RefusesWhatMakesNoSense) {
  IndexConfig config = full();
  config.language = "klingon";
  EXPECT_FALSE(check(config).ok());
  config = full();
  config.more.push_back(config.more.front());
  EXPECT_FALSE(check(config).ok());
  config = full();
  config.main.dimension = 0;
  EXPECT_FALSE(check(config).ok());
  EXPECT_FALSE(choose_vectors(config, "given", 0).ok());
  EXPECT_FALSE(choose_vectors(config, "words", 100).ok());
  EXPECT_TRUE(choose_vectors(config, "", 100).ok());
  EXPECT_EQ(config.embed.text(), "given");
}

}  // namespace
}  // namespace kin::search
