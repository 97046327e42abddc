#include "router/calls/known_statistics.h"

#include <gmock/gmock.h>

#include "index/shard.h"

namespace kin::router {
namespace {

class KnownStatisticsTest : public testing::Test {
 protected:
  // The reply of a shard in this state, with frequencies of words.
  static StatisticsReply reply(std::uint64_t state,
                               const std::map<std::string, std::uint64_t>& words) {
    const index::LegTerms terms(index::text_options({}));
    StatisticsReply made{.text = {.documents = 10 * state, .total_length = 100 * state},
                         .state = state};
    for (const auto& [word, frequency] : words)
      made.text.frequencies[(*terms.of({.query = word}))->at(0)] = frequency;
    return made;
  }
  std::optional<std::vector<StatisticsReply>> find(const std::vector<std::string>& addresses,
                                                   const std::string& query) {
    auto found = known_.find(addresses, {.query = query});
    EXPECT_TRUE(found.ok());
    return *found;
  }
  std::uint64_t frequency(const std::string& address, const std::string& word) {
    return find({address}, word)->at(0).text.frequencies.begin()->second;
  }

  KnownStatistics known_{index::text_options({})};
};

TEST_F(KnownStatisticsTest, TellsWhatEveryShardTold) {
  EXPECT_FALSE(find({"a"}, "tide").has_value());
  known_.learn("a", reply(1, {{"tide", 3}, {"moon", 4}}));
  EXPECT_FALSE(find({"a", "b"}, "tide").has_value());
  known_.learn("b", reply(2, {{"tide", 5}}));
  const auto found = find({"b", "a"}, "tides");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->at(0).state, 2U);
  EXPECT_EQ(found->at(0).text.documents, 20U);
  EXPECT_EQ(found->at(1).text.total_length, 100U);
  EXPECT_EQ(found->at(1).text.frequencies.size(), 1U);
  // Only one of them told of the moon.
  EXPECT_TRUE(find({"a"}, "tide moon").has_value());
  EXPECT_FALSE(find({"a", "b"}, "tide moon").has_value());
}

TEST_F(KnownStatisticsTest, AShardInAnotherStateIsLearntFromTheBeginning) {
  known_.learn("a", reply(1, {{"tide", 3}, {"moon", 4}}));
  known_.learn("a", reply(1, {{"river", 5}}));
  EXPECT_TRUE(find({"a"}, "tide moon river").has_value());
  known_.learn("a", reply(2, {{"tide", 7}}));
  EXPECT_EQ(frequency("a", "tide"), 7U);
  EXPECT_FALSE(find({"a"}, "moon").has_value());
}

TEST_F(KnownStatisticsTest, AWordThatNoDocumentHasIsKnown) {
  known_.learn("a", reply(1, {{"tide", 0}}));
  EXPECT_EQ(frequency("a", "tide"), 0U);
}

TEST_F(KnownStatisticsTest, PatternsAreAskedOfTheShards) {
  known_.learn("a", reply(1, {{"tide", 3}}));
  EXPECT_FALSE(find({"a"}, "tid*").has_value());
  EXPECT_FALSE(known_.find({"a"}, {.query = "(tide"}).ok());
}

TEST_F(KnownStatisticsTest, WithoutOptionsNothingIsRemembered) {
  KnownStatistics none(std::nullopt);
  none.learn("a", reply(1, {{"tide", 3}}));
  EXPECT_FALSE(none.find({"a"}, {.query = "tide"})->has_value());
  EXPECT_TRUE(*none.may_match({.query = "tide"}, reply(1, {{"tide", 0}}).text));
}

TEST_F(KnownStatisticsTest, AShardWithoutARequiredWordHasNoMatch) {
  const StatisticsReply told = reply(1, {{"tide", 0}, {"moon", 4}});
  EXPECT_FALSE(*known_.may_match({.query = "+tide moon"}, told.text));
  EXPECT_TRUE(*known_.may_match({.query = "tide moon"}, told.text));
}

}  // namespace
}  // namespace kin::router
