#include "text/prepare.h"

#include <gtest/gtest.h>

#include "text/words.h"

namespace kin::text {
namespace {

std::string normalized(std::string_view text, Normalization preset) {
  std::string out;
  normalize(text, preset, out);
  return out;
}

TEST(Prepare, FinewebMakesNumbersZeroAndDropsAccents) {
  const auto of = [](std::string_view text) { return normalized(text, Normalization::kFineweb); };
  EXPECT_EQ(of("Caf\u00e9 M\u00dcNCHEN, 1,234 or 3.14 euros!"), "cafe munchen 0 or 0 euros");
  EXPECT_EQ(of("in 2024 and 1987."), "in 0 and 0");
  EXPECT_EQ(of("1.2.3"), "0 0");
  EXPECT_EQ(of("\u0661\u066b\u0662 x"), "0 x");  // Arabic digits and their separator
  EXPECT_EQ(of("v2a"), "v0a");
  EXPECT_EQ(of("7."), "0");
  EXPECT_EQ(of("7,"), "0");
}

TEST(Prepare, SlimpajamaDeletesPunctuationOfAscii) {
  const auto of = [](std::string_view text) {
    return normalized(text, Normalization::kSlimpajama);
  };
  EXPECT_EQ(of("Don't  stop, e-mail\nME!"), "dont stop email me");
  EXPECT_EQ(of("caf\u00e9_au_lait"), "caf\u00e9aulait");
}

TEST(Prepare, CodeKeepsOperatorsAndCase) {
  const auto of = [](std::string_view text) { return normalized(text, Normalization::kCode); };
  EXPECT_EQ(of("int F(int a) {\n  return a+1; // more\n}"), "int F ( int a ) { return a + 1 ; }");
  EXPECT_NE(of("x = a + b;\n"), of("x = a - b;\n"));
}

// Shingles are made of the words of the normalised text.
TEST(Prepare, WordsAreThoseOfTheNormalisedText) {
  const std::string text = "Caf\u00e9 3.5 \u65b0\u95fb don't { a+=1; } // end\n#x\n";
  for (const auto preset :
       {Normalization::kCode, Normalization::kFineweb, Normalization::kSlimpajama}) {
    const std::string normal = normalized(text, preset);
    std::vector<std::string_view> words;
    split_words(normal, preset, words);
    WordSpacer spacer(preset);
    const std::string spaced(spacer.space(text));
    std::string lowered;
    normalize(spaced, base_of(preset), lowered);
    std::vector<std::string_view> of_spaced;
    split_words(lowered, preset, of_spaced);
    EXPECT_EQ(words, of_spaced) << name_of(preset);
  }
}

TEST(Prepare, NormalisingTwiceChangesNothingButCode) {
  for (const auto preset : {Normalization::kFineweb, Normalization::kSlimpajama}) {
    const std::string once = normalized("A 1.5 caf\u00e9, don't! 12", preset);
    EXPECT_EQ(normalized(once, preset), once);
  }
}

}  // namespace
}  // namespace kin::text
