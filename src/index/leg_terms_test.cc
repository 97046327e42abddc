#include "index/leg_terms.h"

#include <gmock/gmock.h>

#include "index/shard.h"

namespace kin::index {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class LegTermsTest : public testing::Test {
 protected:
  std::optional<std::vector<std::string>> terms(const std::string& query) {
    auto found = terms_.of({.query = query});
    EXPECT_TRUE(found.ok()) << query;
    return *found;
  }
  std::string key(const std::string& word) { return terms(word)->at(0); }

  // The statistics of a shard whose documents have these words and none of the others.
  TextStatistics with(const std::vector<std::string>& words) {
    TextStatistics statistics{.documents = 100, .total_length = 4'000};
    for (const char* other : {"tide", "moon", "river", "stone"}) statistics.frequencies[key(other)];
    for (const std::string& word : words) statistics.frequencies[key(word)] = 3;
    return statistics;
  }
  bool may_match(const std::string& query, const std::vector<std::string>& words) {
    const auto may = terms_.may_match({.query = query}, with(words));
    EXPECT_TRUE(may.ok()) << query;
    return may.ok() && *may;
  }

  LegTerms terms_{text_options({})};
};

TEST_F(LegTermsTest, WordsOfOneStemAreOneTerm) {
  EXPECT_THAT(*terms("tide tides Tides"), ElementsAre(key("tide")));
  EXPECT_THAT(*terms("tide AND (moon OR \"river stone\") -rain"), SizeIs(5));
  EXPECT_THAT(*terms("..."), IsEmpty());
}

TEST_F(LegTermsTest, TheStemmerIsThatOfTheOptions) {
  const LegTerms exact(text_options({.language = "none"}));
  EXPECT_THAT(**exact.of({.query = "tide tides"}), SizeIs(2));
}

TEST_F(LegTermsTest, WhatADictionaryDecidesIsNotKnown) {
  for (const char* query : {"tid*", "tide~1", "moon OR t?de", "moon -tid*"})
    EXPECT_FALSE(terms(query).has_value()) << query;
  EXPECT_FALSE(terms_.of({.query = "tide", .fuzzy = 1})->has_value());
  EXPECT_TRUE(may_match("tid*", {}));
}

TEST_F(LegTermsTest, SyntaxErrorsAreReported) {
  EXPECT_FALSE(terms_.of({.query = "(tide"}).ok());
  EXPECT_FALSE(terms_.may_match({.query = "(tide"}, {}).ok());
  using Syntax = TextLeg::Syntax;
  EXPECT_TRUE(terms_.of({.query = "(tide", .syntax = Syntax::kPlain}).ok());
}

TEST_F(LegTermsTest, OneOfTheWordsSuffices) {
  EXPECT_TRUE(may_match("tide moon", {"moon"}));
  EXPECT_FALSE(may_match("tide moon", {"river"}));
}

TEST_F(LegTermsTest, EveryRequiredWordIsNeeded) {
  EXPECT_TRUE(may_match("tide AND moon", {"tide", "moon"}));
  EXPECT_FALSE(may_match("tide AND moon", {"moon"}));
  EXPECT_FALSE(may_match("+tide moon", {"moon"}));
  EXPECT_TRUE(may_match("+tide moon", {"tide"}));
  EXPECT_FALSE(may_match("+(tide OR river) moon", {"moon", "stone"}));
  EXPECT_TRUE(may_match("+(tide OR river) moon", {"river"}));
}

TEST_F(LegTermsTest, EveryWordOfAPhraseIsNeeded) {
  EXPECT_FALSE(may_match("\"tide moon\"", {"moon"}));
  EXPECT_TRUE(may_match("\"tide moon\"", {"moon", "tide"}));
  EXPECT_TRUE(may_match("\"tide moon\" stone", {"stone"}));
}

TEST_F(LegTermsTest, FiltersAndExcludedWordsMatchWithoutWords) {
  EXPECT_TRUE(may_match("*", {}));
  EXPECT_TRUE(may_match("-tide", {}));
  EXPECT_TRUE(may_match("tag:sea", {}));
  EXPECT_TRUE(may_match("tag:sea OR tide", {}));
  EXPECT_FALSE(may_match("+tide tag:sea", {}));
  EXPECT_FALSE(may_match("tide -moon", {"moon"}));
}

TEST_F(LegTermsTest, AWordThatTheStatisticsDoNotHaveMayBeThere) {
  EXPECT_TRUE(may_match("granite", {}));
  EXPECT_FALSE(may_match("+granite +tide", {}));
}

}  // namespace
}  // namespace kin::index
