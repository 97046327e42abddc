#include "stories/grouping/headline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kin::stories {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> stems(std::string_view title) {
  Headline headline;
  read_headline(title, headline);
  std::vector<std::string> result;
  for (const HeadlineWord& word : headline.words) result.push_back(word.stem);
  return result;
}

Headline read(std::string_view title) {
  Headline headline;
  read_headline(title, headline);
  return headline;
}

TEST(Headline, KeepsTellingWordsAsStems) {
  EXPECT_THAT(stems("Ferries stopped in the harbour, and two were closed"),
              ElementsAre("ferry", "stop", "harbour", "two", "clos"));
}

TEST(Headline, DropsPossessivesAndApostrophes) {
  EXPECT_THAT(stems("O'Brien’s ferry ‘can’t’ sail"),
              ElementsAre("obrien", "ferry", "cant", "sail"));
}

TEST(Headline, KeepsDecimalsAndJoinsThousands) {
  EXPECT_THAT(stems("Quake of 6.2 moves 1,000 homes."),
              ElementsAre("quak", "6.2", "move", "1000", "home"));
}

TEST(Headline, TellsMixedWordsFromOthers) {
  const Headline headline = read("Apple puts the M4 into an iPad of 2026");
  ASSERT_EQ(headline.words.size(), 5u);
  EXPECT_FALSE(headline.words[0].mixed);
  EXPECT_TRUE(headline.words[2].mixed);
  EXPECT_TRUE(headline.words[2].after_gap);
  EXPECT_TRUE(headline.words[3].mixed);
  EXPECT_FALSE(headline.words[4].mixed);
  EXPECT_TRUE(headline.words[4].number);
  EXPECT_FALSE(headline.title_case);
}

TEST(Headline, SeesWhenCapitalsSayNothing) {
  EXPECT_TRUE(read("Harbour Ferries Stopped After Storm Damage").title_case);
  EXPECT_FALSE(read("Harbour ferries stopped after storm in Bergen").title_case);
}

TEST(Headline, FoldsAccentsAndPairsCharactersOfScriptsWithoutSpaces) {
  EXPECT_THAT(stems("Beyoncé à Montréal"), ElementsAre("beyonc", "montreal"));
  EXPECT_THAT(stems("東京都"), ElementsAre("東京", "京都"));
}

TEST(Headline, HasNoWordsWhereThereAreNone) {
  EXPECT_THAT(stems(""), IsEmpty());
  EXPECT_THAT(stems("… – the!"), IsEmpty());
  EXPECT_THAT(stems("\xFF\xFE"), IsEmpty());
}

TEST(BareTitle, LosesTheSourceAndTheLabelOfAWire) {
  EXPECT_EQ(bare_title("Ferries stop | The Daily Harbour", "The Daily Harbour"), "Ferries stop");
  EXPECT_EQ(bare_title("Ferries stop - the daily harbour", "The Daily Harbour"), "Ferries stop");
  EXPECT_EQ(bare_title("Ferries stop - again", "The Daily Harbour"), "Ferries stop - again");
  EXPECT_EQ(bare_title("UPDATE 2-Ferries stop", ""), "Ferries stop");
  EXPECT_EQ(bare_title("UPDATE your ferry ticket", ""), "UPDATE your ferry ticket");
  EXPECT_EQ(bare_title("UPDATE 1-", ""), "UPDATE 1-");
}

TEST(LabelOf, IsTheShortPartBeforeAColon) {
  EXPECT_EQ(label_of("Harbour Latest: Ferry runs aground"), "Harbour Latest");
  EXPECT_EQ(label_of("Ports 2026 : le ferry est à quai"), "Ports 2026");
  EXPECT_EQ(label_of("Ferry runs aground at 10:30"), "");
  EXPECT_EQ(label_of("Ferry runs aground: photos"), "");
  EXPECT_EQ(label_of("Captain of the stranded ferry says: we saw no rocks"), "");
  EXPECT_EQ(label_of(""), "");
}

}  // namespace
}  // namespace kin::stories
