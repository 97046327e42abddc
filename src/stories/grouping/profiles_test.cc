#include "stories/grouping/profiles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/random.h"
#include "stories/grouping/similarity.h"

namespace kin::stories {
namespace {

using ::testing::IsEmpty;

constexpr SearchLimits kNoLimits{.postings = 1'000'000, .profiles = 1'000'000};

class ProfilesTest : public ::testing::Test {
 protected:
  explicit ProfilesTest(SearchLimits limits = kNoLimits) : profiles_(limits) {}

  Features read(const std::string& title) {
    return reader_.read(Item{.title = title}, vocabulary_).features;
  }
  void add(std::uint32_t slot, const std::string& title) {
    profiles_.add(slot, read(title), 1, vocabulary_);
  }
  // Matches by slot.
  std::vector<Profiles::Match> near(const std::string& title) {
    read_query(read(title), vocabulary_, query_);
    return near(Reach());
  }
  std::vector<Profiles::Match> near(const Reach& reach) {
    const auto found = profiles_.near(query_, reach, [](std::uint32_t) { return true; });
    std::vector<Profiles::Match> matches(found.begin(), found.end());
    std::ranges::sort(matches, {}, &Profiles::Match::slot);
    return matches;
  }

  Vocabulary vocabulary_;
  FeatureReader reader_;
  Profiles profiles_;
  Query query_;
};

TEST_F(ProfilesTest, FindsProfilesThatShareTerms) {
  add(0, "Ferry Olympia stranded near Chania");
  add(1, "Tram drivers strike in Lisbon");
  add(2, "Olympia ferry passengers rescued");
  const auto found = near("Ferry Olympia rescued");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].slot, 0u);
  EXPECT_EQ(found[1].slot, 2u);
  EXPECT_GT(found[1].product, found[0].product);
  EXPECT_GT(found[1].evidence, found[0].evidence);
  EXPECT_THAT(near("Glacier melts in Zermatt"), IsEmpty());
}

TEST_F(ProfilesTest, TakesALabelOfSeveralProfilesForASource) {
  const Scoring scoring;
  const auto factor = [&](std::uint32_t slot, const std::string& title) {
    read_query(read(title), vocabulary_, query_);
    return column_factor(query_, profiles_.at(slot), scoring);
  };
  add(0, "Harbour Latest: Ferry Olympia stranded near Chania");
  // So far the label may be that of one event.
  EXPECT_EQ(factor(0, "Harbour Latest: Tram drivers strike in Lisbon"), 1);
  for (std::uint32_t slot = 1; slot < 5; ++slot)
    add(slot, "Harbour Latest: Glacier in Zermatt melts early");
  EXPECT_EQ(factor(0, "Harbour Latest: Tram drivers strike in Lisbon"), scoring.same_source);
  EXPECT_EQ(factor(0, "Tram drivers strike in Lisbon"), 1);
  // In proportion to the members that have it.
  add(0, "Passengers of ferry Olympia rescued");
  EXPECT_EQ(factor(0, "Harbour Latest: Tram drivers strike in Lisbon"),
            (1 + scoring.same_source) / 2);
}

TEST_F(ProfilesTest, IsAsBeforeWhenAMemberLeaves) {
  const Features first = read("Ferry Olympia stranded near Chania");
  const Features second = read("Olympia passengers rescued by boat");
  profiles_.add(0, first, 1, vocabulary_);
  const Profile before = profiles_.at(0);
  profiles_.add(0, second, 1, vocabulary_);
  profiles_.remove(0, second, 1, vocabulary_);
  EXPECT_EQ(profiles_.at(0).terms, before.terms);
  EXPECT_EQ(profiles_.at(0).members, 1u);
  EXPECT_THAT(near("Boat rescued"), IsEmpty());
}

TEST_F(ProfilesTest, MergesIntoTheSumOfBoth) {
  add(0, "Ferry Olympia stranded near Chania");
  add(1, "Olympia passengers rescued by boat");
  profiles_.merge(0, 1, vocabulary_);
  EXPECT_TRUE(profiles_.empty(0));
  EXPECT_EQ(profiles_.at(1).members, 2u);
  const TermId olympia = vocabulary_.intern(TermKind::kWord, "olympia");
  ASSERT_NE(profiles_.at(1).find(olympia), nullptr);
  EXPECT_EQ(profiles_.at(1).find(olympia)->count, 2u);
  // Only one story has it now, although in two headlines.
  EXPECT_LT(vocabulary_.term(olympia).stories, 1.5);
  EXPECT_EQ(near("Ferry boat").size(), 1u);
}

// Long lists are left out of a search. The result must equal that of a full search, except for
// profiles that cannot reach the least score.
TEST_F(ProfilesTest, FindsTheSameWithoutLongLists) {
  constexpr std::uint32_t kCount = 600;
  Random random(3);
  const auto word = [&](const char* kind, std::uint64_t most) {
    return std::string(" ") + kind + std::to_string(random.below(most));
  };
  for (std::uint32_t slot = 0; slot < kCount; ++slot) {
    add(slot, "daily sport" + word("topic", 3) + word("name", 100) + word("place", 50));
    vocabulary_.count_story();
    vocabulary_.count_headline();
  }
  const Reach reach{.least = 0.2, .factor = 1, .bonus = 0, .evidence = 8};
  for (int trial = 0; trial < 50; ++trial) {
    const std::string title =
        "daily sport" + word("topic", 3) + word("name", 100) + word("place", 50);
    const auto all = near(title);
    const auto within = near(reach);
    EXPECT_LT(within.size(), all.size());
    std::size_t expected = 0;
    for (const Profiles::Match& match : all) {
      const double cosine = match.product / (query_.length * profiles_.at(match.slot).length);
      const auto found = std::ranges::find(within, match.slot, &Profiles::Match::slot);
      if (reach.score(cosine, match.evidence) < reach.least) continue;
      ++expected;
      ASSERT_NE(found, within.end()) << title;
      EXPECT_NEAR(found->product, match.product, 1e-9 * match.product);
      EXPECT_NEAR(found->evidence, match.evidence, 1e-9);
    }
    EXPECT_GE(within.size(), expected);
  }
}

class LimitedProfilesTest : public ProfilesTest {
 protected:
  LimitedProfilesTest() : ProfilesTest({.postings = 100, .profiles = 4}) {}
};

TEST_F(LimitedProfilesTest, ReadNoMoreThanTheRarestTermsAndTheBestProfiles) {
  for (std::uint32_t slot = 0; slot < 120; ++slot) add(slot, "sport");
  for (std::uint32_t slot = 120; slot < 150; ++slot) add(slot, "sport ferry");
  for (std::uint32_t slot = 150; slot < 153; ++slot) add(slot, "ferry Olympia sport");
  EXPECT_THAT(near("sport"), IsEmpty());
  const auto found = near("sport Olympia ferry");
  ASSERT_EQ(found.size(), 4u);
  EXPECT_LT(found[0].slot, 150u);
  EXPECT_EQ(found[1].slot, 150u);
  // The list of "sport" was not read, but the word counts as well.
  const TermId sport = vocabulary_.intern(TermKind::kWord, "sport");
  std::erase_if(query_.parts, [&](const auto& other) { return other.term == sport; });
  EXPECT_LT(near(Reach()).back().product, found.back().product);
}

}  // namespace
}  // namespace kin::stories
