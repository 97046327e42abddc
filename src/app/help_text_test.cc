#include "app/help_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "app/checks.h"
#include "app/options.h"

namespace kin::app {
namespace {

using testing::HasSubstr;

struct HelpTextTest : testing::Test {
  std::string help() { return app.help(); }

  HelpTextTest() { use_help_text(app, 60); }

  CommandLine line{"program", "About the program"};
  const Verb app = line.program();
  std::string text;
  int number = 2;
};

TEST_F(HelpTextTest, ExplanationsAreFoldedInAColumnOfTheirOwn) {
  app.add_option("-o,--output", text, "A file for what is left when all of it was read")
      .type_name("FILE");
  EXPECT_THAT(help(), HasSubstr("\n  -o, --output FILE           A file for what is left when\n"
                                "                              all of it was read\n"));
}

TEST_F(HelpTextTest, AnOptionThatFillsItsColumnHasTheExplanationBelow) {
  app.add_option("--one-that-is-rather-long", text, "Short").type_name("FILE");
  EXPECT_THAT(help(),
              HasSubstr("  --one-that-is-rather-long FILE\n                              Short\n"));
}

TEST_F(HelpTextTest, RangesAndDefaultsAreToldInWords) {
  app.add_option("--copies", number, "Copies").range(0, 10).capture_default_str();
  EXPECT_THAT(help(), HasSubstr("  --copies N                  Copies (0 to 10; default: 2)\n"));
}

TEST_F(HelpTextTest, ADefaultInTheExplanationIsNotRepeated) {
  app.add_option("--copies", number, "Copies (default: two)").capture_default_str();
  EXPECT_THAT(help(), HasSubstr("  --copies N                  Copies (default: two)\n"));
}

TEST_F(HelpTextTest, ChoicesAreShownAsTheyAreTyped) {
  text = "size";
  with_choice(app.add_option("--by", text, "The measure"), {"size", "load"});
  app.add_option("--like", text, "Another").is_member({"a", "b"});
  EXPECT_THAT(help(), HasSubstr("  --by size|load              The measure (default: size)\n"));
  EXPECT_THAT(help(), HasSubstr("  --like a|b                  Another\n"));
}

TEST_F(HelpTextTest, ColonsInTheNameOfAValueStay) {
  app.add_option("--shingle", text, "Unit").type_name("UNIT:N");
  EXPECT_THAT(help(), HasSubstr("  --shingle UNIT:N            Unit\n"));
}

TEST_F(HelpTextTest, ArgumentsHaveNoKindAndOptionsSayThatTheyAreRequired) {
  app.add_option("INPUT", text, "What is read").required();
  app.add_option("--at", text, "Where").required();
  EXPECT_THAT(help(), HasSubstr("Arguments:\n  INPUT                       What is read\n"));
  EXPECT_THAT(help(), HasSubstr("  --at TEXT                   Where (required)\n"));
}

TEST_F(HelpTextTest, AnOptionThatNeedsAnotherNamesIt) {
  const Option config = app.add_option("--config", text, "Settings");
  app.add_option("--run", text, "Name").needs(config);
  EXPECT_THAT(help(), HasSubstr("  --run TEXT                  Name (with --config)\n"));
}

TEST_F(HelpTextTest, FlagsThatSwitchSomethingOffHaveNoMark) {
  bool one = false;
  app.add_flag("--one,!--many", one, "Which");
  EXPECT_THAT(help(), HasSubstr("  --one, --many               Which\n"));
}

TEST_F(HelpTextTest, ProseIsFoldedAndExamplesAreNot) {
  const std::string example = "  program " + std::string(70, 'x');
  app.footer("Examples:\n" + example +
             "\n\nA line that is longer than sixty\ncolumns when it is joined with the next.");
  EXPECT_THAT(
      help(),
      HasSubstr("Examples:\n" + example +
                "\n\n"
                "A line that is longer than sixty columns when it is joined\nwith the next.\n"));
}

TEST_F(HelpTextTest, VerbsInheritIt) {
  const Verb verb = app.add_subcommand("verb", "Does it");
  verb.add_option("--copies", number, "Copies").range(0, 10);
  EXPECT_THAT(verb.help(), HasSubstr("  --copies N                  Copies (0 to 10)\n"));
  EXPECT_THAT(help(), HasSubstr("  verb                        Does it\n"));
}

}  // namespace
}  // namespace kin::app
