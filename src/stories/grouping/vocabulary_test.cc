#include "stories/grouping/vocabulary.h"

#include <gtest/gtest.h>

namespace kin::stories {
namespace {

TEST(Vocabulary, TellsKindsAndPairsApart) {
  Vocabulary vocabulary;
  const TermId word = vocabulary.intern(TermKind::kWord, "ferry");
  EXPECT_EQ(vocabulary.intern(TermKind::kWord, "ferry"), word);
  EXPECT_NE(vocabulary.intern(TermKind::kPrefix, "ferry"), word);
  const TermId pair = vocabulary.intern_pair("ferry", "olympia");
  EXPECT_EQ(vocabulary.intern_pair("ferry", "olympia"), pair);
  EXPECT_NE(vocabulary.intern_pair("olympia", "ferry"), pair);
  EXPECT_EQ(vocabulary.evidence(pair), 0);
}

TEST(Vocabulary, LearnsFromTheStreamWhichWordsAreCommon) {
  Vocabulary vocabulary;
  const TermId common = vocabulary.intern(TermKind::kWord, "olympia");
  const TermId rare = vocabulary.intern(TermKind::kWord, "chania");
  for (int story = 0; story < 100; ++story) {
    vocabulary.count_story();
    vocabulary.count_headline();
    vocabulary.recount(common, 0, 1);
  }
  vocabulary.recount(rare, 0, 1);
  EXPECT_GT(vocabulary.weight(rare), 5 * vocabulary.weight(common));
  EXPECT_GT(vocabulary.evidence(rare), 2 * vocabulary.evidence(common));
}

TEST(Vocabulary, CountsALargeStoryAsFewSmallOnes) {
  Vocabulary vocabulary;
  const TermId word = vocabulary.intern(TermKind::kWord, "olympia");
  for (std::uint32_t headlines = 0; headlines < 100; ++headlines)
    vocabulary.recount(word, headlines, headlines + 1);
  EXPECT_GT(vocabulary.term(word).stories, 2);
  EXPECT_LT(vocabulary.term(word).stories, 10);
  // But a word that all headlines have is not evidence.
  const double before = vocabulary.evidence(word);
  for (int i = 0; i < 100; ++i) vocabulary.count_headline();
  EXPECT_GT(vocabulary.evidence(word), before);
  EXPECT_LT(vocabulary.evidence(word), 2);
  vocabulary.recount(word, 100, 0);
  EXPECT_NEAR(vocabulary.term(word).stories, 0, 1e-9);
}

TEST(Vocabulary, KnowsCommonEnglishFromTheStart) {
  Vocabulary vocabulary;
  EXPECT_GT(vocabulary.weight(vocabulary.intern(TermKind::kWord, "olympia")),
            3 * vocabulary.weight(vocabulary.intern(TermKind::kWord, "peopl")));
}

TEST(Vocabulary, WeighsNamesByTheirSpelling) {
  Vocabulary vocabulary;
  const TermId name = vocabulary.intern(TermKind::kWord, "turkey");
  const double before = vocabulary.weight(name);
  for (int i = 0; i < 10; ++i) vocabulary.count_spelling(name, true);
  EXPECT_GT(vocabulary.weight(name), before);
  EXPECT_GT(vocabulary.name_chance(name), 0.8);
}

TEST(Vocabulary, TakesYearsAndWeekdaysForNoEvidence) {
  Vocabulary vocabulary;
  EXPECT_GT(vocabulary.evidence(vocabulary.intern(TermKind::kNumber, "6.9")), 0);
  EXPECT_EQ(vocabulary.evidence(vocabulary.intern(TermKind::kYear, "2026")), 0);
  EXPECT_EQ(vocabulary.evidence(vocabulary.intern(TermKind::kDay, "monday")), 0);
}

TEST(Vocabulary, TakesALabelOfSeveralStoriesForAColumn) {
  Vocabulary vocabulary;
  const TermId label = vocabulary.intern(TermKind::kLabel, "harbour latest");
  const TermId word = vocabulary.intern(TermKind::kWord, "harbour");
  // One large story may have a label of its own.
  for (std::uint32_t headlines = 0; headlines < 50; ++headlines)
    vocabulary.recount(label, headlines, headlines + 1);
  EXPECT_FALSE(vocabulary.is_column_label(label));
  for (int story = 0; story < 5; ++story) {
    vocabulary.recount(label, 0, 1);
    vocabulary.recount(word, 0, 1);
  }
  EXPECT_TRUE(vocabulary.is_column_label(label));
  EXPECT_FALSE(vocabulary.is_column_label(word));
  EXPECT_EQ(vocabulary.weight(label), 0);
  EXPECT_EQ(vocabulary.evidence(label), 0);
}

TEST(Vocabulary, ForgetsTermsThatNobodyUsesAnyMore) {
  Vocabulary vocabulary;
  const TermId old = vocabulary.intern(TermKind::kWord, "olympia");
  const TermId used = vocabulary.intern(TermKind::kWord, "chania");
  const TermId common = vocabulary.intern(TermKind::kWord, "ferry");
  for (int i = 0; i < 100; ++i) vocabulary.recount(common, 0, 1);
  for (int i = 0; i < 6'000; ++i) vocabulary.count_story();
  const auto is_used = [&](TermId term) { return term == used; };
  // Not while this many stories are open.
  vocabulary.fade(4'000, is_used);
  EXPECT_EQ(vocabulary.stories(), 6'000);
  vocabulary.fade(10, is_used);
  EXPECT_EQ(vocabulary.stories(), 3'000);
  EXPECT_EQ(vocabulary.term(common).stories, 50);
  EXPECT_EQ(vocabulary.intern(TermKind::kWord, "chania"), used);
  // The id of the term that is gone is used again, also after a restart.
  Vocabulary restored(vocabulary.terms(), vocabulary.stories(), vocabulary.headlines());
  EXPECT_EQ(vocabulary.intern(TermKind::kWord, "bergen"), old);
  EXPECT_EQ(restored.intern(TermKind::kWord, "bergen"), old);
  EXPECT_EQ(restored.terms(), vocabulary.terms());
}

}  // namespace
}  // namespace kin::stories
