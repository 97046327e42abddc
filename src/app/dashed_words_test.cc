#include "app/dashed_words.h"

#include <gtest/gtest.h>

#include "app/options.h"
#include "app/usage.h"

namespace kin::app {
namespace {

// The text that a verb with the option -o,--output reads from the arguments, or its error.
std::string text_of(std::vector<std::string> arguments) {
  const CommandLine line("search", "");
  const Verb verb = line.program();
  std::string index;
  std::vector<std::string> words;
  std::string output;
  verb.add_option("INDEX", index).required();
  verb.add_option("TEXT", words);
  verb.add_option("-o,--output", output);
  hide_dashes(verb, arguments);
  if (const auto asked = parse(verb, std::move(arguments)); !asked) return asked.error().message;
  return join_words(words) + (output.empty() ? "" : " > " + output);
}

TEST(DashedWords, ArePartOfTheText) {
  EXPECT_EQ(text_of({"papers", "tides", "-lakes", "sea"}), "tides -lakes sea");
  EXPECT_EQ(text_of({"papers", "-lakes"}), "-lakes");
  EXPECT_EQ(text_of({"papers", "-\"inner sea\"", "-öl"}), "-\"inner sea\" -öl");
}

TEST(DashedWords, AreOptionsWhereThereIsOne) {
  EXPECT_EQ(text_of({"papers", "tides", "-oFILE"}), "tides > FILE");
  EXPECT_EQ(text_of({"papers", "tides", "-o", "FILE", "-lakes"}), "tides -lakes > FILE");
}

TEST(DashedWords, AreWordsAfterTwoDashes) {
  EXPECT_EQ(text_of({"papers", "--", "-ocean"}), "-ocean");
  EXPECT_EQ(text_of({"papers", "tides", "--", "-ocean", "-lakes"}), "tides -ocean -lakes");
}

TEST(DashedWords, DoNotHideLongOptionsThatAreNotThere) {
  EXPECT_EQ(text_of({"papers", "--lakes"}), "there is no option --lakes");
}

TEST(JoinWords, OfNothingIsEmpty) {
  EXPECT_EQ(join_words({}), "");
  EXPECT_EQ(join_words({"", "a"}), "a");
}

}  // namespace
}  // namespace kin::app
