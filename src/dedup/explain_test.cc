#include "dedup/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/ascii.h"
#include "base/hash.h"

namespace kin::dedup {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Kind = Passage::Kind;

constexpr std::string_view kOriginal =
    "The river rose by two metres during the night, and by the morning the lower town stood under "
    "water. Firefighters brought the guests of three hotels to safety in boats. Nobody was hurt, "
    "the mayor said, but the old bridge will stay closed until engineers have looked at its "
    "foundations. Schools reopen on Monday.";

std::string edited() {
  std::string text(kOriginal);
  text.replace(text.find("mayor"), 5, "council");
  return text;
}

std::string joined(const std::vector<Passage>& passages, Kind left_out) {
  std::string text;
  for (const Passage& passage : passages) {
    if (passage.kind != left_out) text += passage.text;
  }
  return text;
}

TEST(Explain, SaysThatIdenticalTextsAreIdentical) {
  const auto pair = explain(kOriginal, kOriginal, {});
  ASSERT_TRUE(pair.ok());
  EXPECT_TRUE(pair->identical);
  EXPECT_EQ(pair->found_by, Method::kExact);
  EXPECT_EQ(pair->similarity, 1.0);
  EXPECT_EQ(pair->matching_bands.size(), pair->banding.bands);
  EXPECT_EQ(pair->simhash_distance, 0);
  EXPECT_EQ(pair->passages.size(), 1U);
}

TEST(Explain, CountsTheShinglesThatOneChangedWordCosts) {
  const auto pair = explain(kOriginal, edited(), {});
  ASSERT_TRUE(pair.ok());
  EXPECT_FALSE(pair->identical);
  EXPECT_EQ(pair->only_a_shingles, 5U);
  EXPECT_EQ(pair->only_b_shingles, 5U);
  const double all = static_cast<double>(pair->shared_shingles + 10);
  EXPECT_DOUBLE_EQ(pair->similarity, static_cast<double>(pair->shared_shingles) / all);
  EXPECT_NEAR(pair->estimate, pair->similarity, 4 * pair->deviation);
  EXPECT_GT(pair->candidate_probability, 0.99);
  EXPECT_EQ(pair->found_by, Method::kMinHash);
  EXPECT_THAT(pair->verdict, HasSubstr("reaches the threshold of 0.8"));
}

TEST(Explain, SaysWhenOnlyWhatDoesNotCountDiffers) {
  std::string shouted(kOriginal);
  for (char& letter : shouted) letter = ascii_upper(letter);
  const auto pair = explain(kOriginal, shouted, {});
  ASSERT_TRUE(pair.ok());
  EXPECT_FALSE(pair->identical);
  EXPECT_TRUE(pair->same_normalized);
  EXPECT_TRUE(pair->same_words);
  EXPECT_EQ(pair->found_by, Method::kMinHash);
}

TEST(Explain, FindsNothingBetweenUnrelatedTexts) {
  const auto pair = explain(kOriginal, "A recipe for bread: flour, water, salt and patience.", {});
  ASSERT_TRUE(pair.ok());
  EXPECT_FALSE(pair->found_by);
  EXPECT_EQ(pair->similarity, 0.0);
  EXPECT_THAT(pair->matching_bands, IsEmpty());
  EXPECT_THAT(pair->verdict, HasSubstr("no word:5 in common"));
}

TEST(Explain, HoldsThePairToTheOptionsGiven) {
  DedupOptions strict;
  strict.threshold = 0.95;
  EXPECT_FALSE(explain(kOriginal, edited(), strict)->found_by);
  DedupOptions exact_only;
  exact_only.detectors = {.exact = true, .minhash = false, .simhash = false, .chunk = false};
  EXPECT_FALSE(explain(kOriginal, edited(), exact_only)->found_by);
  DedupOptions simhash;
  simhash.detectors = {.exact = false, .minhash = false, .simhash = true, .chunk = false};
  simhash.hamming = 7;
  EXPECT_EQ(explain(kOriginal, edited(), simhash)->found_by, Method::kSimHash);
  DedupOptions chunk;
  chunk.detectors = {.exact = false, .minhash = false, .simhash = false, .chunk = true};
  chunk.chunks.size = 64;
  const std::string longer = std::string(kOriginal.substr(0, 128)) + "and then something else";
  EXPECT_EQ(explain(kOriginal.substr(0, 128), longer, chunk)->found_by, Method::kChunk);
}

TEST(Explain, TakesTextsWithoutWords) {
  const auto pair = explain("!!!", "???", {});
  ASSERT_TRUE(pair.ok());
  EXPECT_FALSE(pair->found_by);
  EXPECT_TRUE(explain("", "", {})->identical);
}

TEST(Passages, PutDifferencesWhereTheyAre) {
  const auto passages =
      compare_words("one two three four, five six", "one two 3 four five six seven",
                    text::Normalization::kStandard);
  ASSERT_EQ(passages.size(), 5U);
  EXPECT_EQ(passages[0].text, "one two ");
  EXPECT_EQ(passages[1].kind, Kind::kOnlyA);
  EXPECT_EQ(passages[1].text, "three ");
  EXPECT_EQ(passages[2].kind, Kind::kOnlyB);
  EXPECT_EQ(passages[2].text, "3 ");
  EXPECT_EQ(passages[3].text, "four, five six");
  EXPECT_EQ(passages[4].text, "seven");
}

TEST(Passages, RebuildBothTexts) {
  const std::string b = "Breaking: " + edited() + " More follows.";
  const auto passages = compare_words(kOriginal, b, text::Normalization::kStandard);
  EXPECT_EQ(joined(passages, Kind::kOnlyB), kOriginal);
  // A shared passage is shown as in the first text, so the characters after its last word may
  // differ.
  EXPECT_THAT(joined(passages, Kind::kOnlyA), HasSubstr("council said"));
}

TEST(Passages, DoNotStopAtCoincidences) {
  const auto passages = compare_words(
      "alpha beta gamma delta epsilon the zeta eta theta iota kappa",
      "un deux trois quatre cinq the six sept huit neuf dix", text::Normalization::kStandard);
  ASSERT_EQ(passages.size(), 2U);
  EXPECT_EQ(passages[0].words, 11U);
}

TEST(Passages, TakeChineseCharacterByCharacter) {
  const auto passages =
      compare_words("河水在夜里上涨了两米", "河水在夜里上涨了三米", text::Normalization::kStandard);
  ASSERT_EQ(passages.size(), 4U);
  EXPECT_EQ(passages[1].text, "两");
  EXPECT_EQ(passages[2].text, "三");
}

// Too long for a table of all pairs of words.
TEST(Passages, FindOneChangeInALongText) {
  std::string a;
  std::string b = "inserted ";
  for (int i = 0; i < 20'000; ++i) {
    const std::string word = "w" + std::to_string(i * 7919 % 1000) + " ";
    a += word;
    b += i == 10'000 ? "changed " : word;
  }
  b += "appended";
  const auto passages = compare_words(a, b, text::Normalization::kStandard);
  std::size_t shared = 0;
  std::size_t different = 0;
  for (const Passage& passage : passages)
    (passage.kind == Kind::kShared ? shared : different) += passage.words;
  EXPECT_EQ(different, 4U);
  EXPECT_EQ(shared, 19'999U);
  EXPECT_EQ(joined(passages, Kind::kOnlyB), a);
}

// Long enough for every method: a table, few differences, and anchors.
TEST(Passages, RebuildBothTextsWhateverTheEdits) {
  std::uint64_t state = 1;
  const auto random = [&](std::uint64_t below) { return mix64(++state) % below; };
  for (const std::uint64_t edits : {0, 5, 100, 400, 2'000}) {
    std::string a;
    std::string b;
    for (int i = 0; i < 4'000; ++i) {
      const std::string word = "w" + std::to_string(random(500)) + " ";
      a += word;
      if (random(4'000) >= edits) b += word;
      if (random(8'000) < edits) b += "new" + std::to_string(random(9)) + " ";
    }
    const auto passages = compare_words(a, b, text::Normalization::kStandard);
    EXPECT_EQ(joined(passages, Kind::kOnlyB), a) << edits;
    EXPECT_EQ(joined(passages, Kind::kOnlyA), b) << edits;
    std::size_t shared = 0;
    for (const Passage& passage : passages)
      shared += passage.kind == Kind::kShared ? passage.words : 0;
    EXPECT_GE(shared + 2 * edits + 50, 4'000U) << edits;
  }
}

}  // namespace
}  // namespace kin::dedup
