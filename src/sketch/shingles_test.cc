#include "sketch/shingles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "sketch/kernels/each_target.h"
#include "sketch/shingles_reference.h"
#include "sketch/word_hash.h"

namespace kin::sketch {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using text::Normalization;
using Unit = ShingleOptions::Unit;

std::vector<std::uint64_t> shingles(std::string_view text, ShingleOptions options = {}) {
  Shingler shingler(options);
  const auto found = shingler.shingles(text);
  return {found.begin(), found.end()};
}

// A text of `words` words of every length, some longer than a piece, with the odd curly quote.
std::string made_up(std::mt19937_64& random, std::size_t words) {
  static const std::vector<std::string> separators{" ",      ", ",       "\n", "-",
                                                   "\u201C", " \u2014 ", "\t "};
  static const std::vector<std::string> letters{
      "a", "Z",         "m", "Q", "7", "\u00E9", "\u00C9", "e\u0301", "\u6211", "\u0E17\u0E35",
      "'", "\U0001F600"};
  std::string text;
  for (std::size_t i = 0; i < words; ++i) {
    std::size_t length = 1 + random() % 12;
    if (random() % 20 == 0) length = 14 + random() % 40;
    if (random() % 500 == 0) length = 2'000 + random() % 3'000;
    const std::size_t plain = random() % 8 == 0 ? letters.size() : 5;
    for (std::size_t k = 0; k < length; ++k) text += letters[random() % plain];
    text += separators[random() % (random() % 4 == 0 ? separators.size() : 2)];
  }
  return text;
}

TEST(Shingler, HasNoShinglesForTextWithoutWords) {
  EXPECT_THAT(shingles(""), ElementsAre());
  EXPECT_THAT(shingles(" .,! \u201C\u201D\n"), ElementsAre());
  EXPECT_THAT(shingles("", {.unit = Unit::kChar}), ElementsAre());
  // Also where white space counts: with words in it, it is part of the shingles.
  const ShingleOptions plain{.unit = Unit::kChar, .normalization = text::Normalization::kNone};
  EXPECT_THAT(shingles(" \n\t", plain), ElementsAre());
  EXPECT_THAT(shingles("\u00A0\u2003\u3000", plain), ElementsAre());
  EXPECT_EQ(shingles("\u3000\u3042", plain).size(), 1U);
  EXPECT_EQ(shingles("\u2003\u00BF", plain).size(), 1U);
}

TEST(Shingler, MakesOneShingleOfAShortText) {
  EXPECT_EQ(shingles("three short words").size(), 1U);
  EXPECT_EQ(shingles("five words are just enough").size(), 1U);
  EXPECT_EQ(shingles("six words are one too many").size(), 2U);
  EXPECT_EQ(shingles("ab", {.unit = Unit::kChar, .size = 3}).size(), 1U);
}

TEST(Shingler, IgnoresWhatThePresetIgnores) {
  EXPECT_EQ(shingles("It\u2019s the  QUICK brown fox!"), shingles("it s, the quick brown Fox"));
  EXPECT_NE(shingles("it s, the quick brown Fox", {.normalization = Normalization::kLight}),
            shingles("it s, the quick brown fox", {.normalization = Normalization::kLight}));
}

TEST(Shingler, KeepsOrderAndRepeats) {
  const auto found = shingles("a b a b a", {.size = 2});
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[0], found[2]);
  EXPECT_EQ(found[1], found[3]);
  EXPECT_NE(found[0], found[1]);
}

TEST(Shingler, MakesCharacterShinglesOfScriptsWithoutSpaces) {
  EXPECT_EQ(shingles("\u6211\u4EEC\u90FD\u7231\u5199\u7A0B\u5E8F").size(), 3U);
  EXPECT_EQ(shingles("\u6211\u4EEC\u3002\u90FD\u7231\u5199"),
            shingles("\u6211\u4EEC\u90FD\u7231\u5199"));
}

void compare_with_reference(const ShingleOptions& options, const char* target) {
  std::mt19937_64 random(11);
  Shingler shingler(options);
  for (int i = 0; i < 60; ++i) {
    const std::string text = made_up(random, random() % (i % 20 == 0 ? 2'000 : 40));
    ASSERT_THAT(shingler.shingles(text), ElementsAreArray(shingles_reference(text, options)))
        << target << ' ' << to_string(options) << ' ' << text;
  }
}

TEST(Shingler, AgreesWithTheReferenceOnEveryTarget) {
  for_each_target([](const char* target) {
    for (const auto preset : {Normalization::kNone, Normalization::kLight, Normalization::kStandard,
                              Normalization::kAggressive}) {
      compare_with_reference({Unit::kWord, 5, preset}, target);
      compare_with_reference({Unit::kWord, 1, preset}, target);
      compare_with_reference({Unit::kWord, 13, preset}, target);
      compare_with_reference({Unit::kChar, 3, preset}, target);
    }
  });
}

TEST(Shingler, AgreesWithTheReferenceAtEveryLength) {
  for_each_target([](const char* target) {
    std::string text;
    Shingler shingler({});
    for (int i = 0; i < 300; ++i) {
      ASSERT_THAT(shingler.shingles(text), ElementsAreArray(shingles_reference(text, {})))
          << target;
      text += i % 7 == 6 ? ' ' : static_cast<char>('A' + i % 26);
    }
  });
}

TEST(Shingler, HashesAreTheSameForEver) {
  static_assert(kShingleVersion == 1);
  EXPECT_THAT(shingles("The quick brown fox jumps over"),
              ElementsAre(0x9b11d0229d78cc72ULL, 0x34e0b29c9592c37fULL));
  EXPECT_THAT(shingles("Donaudampfschifffahrtsgesellschaft \u00C9tude"),
              ElementsAre(0x1daf578edd4c6821ULL));
  EXPECT_THAT(shingles("\u00E9a b", {.unit = Unit::kChar, .size = 4}),
              ElementsAre(0x872a302cec7ac13fULL));
}

TEST(HashWord, SpreadsShortWordsOverTheWholeRange) {
  std::set<std::uint64_t> seen;
  std::array<int, 64> ones{};
  constexpr int kWords = 26 * 26 * 26;
  for (int i = 0; i < kWords; ++i) {
    const char word[] = {static_cast<char>('a' + i % 26), static_cast<char>('a' + i / 26 % 26),
                         static_cast<char>('a' + i / 676)};
    const std::uint64_t hash = hash_word({word, 3});
    seen.insert(hash);
    for (std::size_t bit = 0; bit < 64; ++bit) ones[bit] += static_cast<int>(hash >> bit & 1);
  }
  EXPECT_EQ(seen.size(), std::size_t{kWords});
  for (const int count : ones) EXPECT_NEAR(count, kWords / 2.0, kWords / 40.0);
}

TEST(ParseShingle, ReadsWhatToStringWrites) {
  for (const char* text : {"word:5", "char:3", "word:1", "char:256"}) {
    const auto options = parse_shingle(text, Normalization::kLight);
    ASSERT_TRUE(options.ok()) << text;
    EXPECT_EQ(to_string(*options), text);
    EXPECT_EQ(options->normalization, Normalization::kLight);
  }
}

TEST(ParseShingle, RefusesAnythingElse) {
  for (const char* text : {"", "word", "word:", "word:0", "word:257", "word:5x", "words:5",
                           "word:-1", ":5", "Word:5", "word: 5", "char:99999999999"}) {
    EXPECT_FALSE(parse_shingle(text, Normalization::kStandard).ok()) << text;
  }
}

}  // namespace
}  // namespace kin::sketch
