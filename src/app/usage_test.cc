#include "app/usage.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "app/options.h"

namespace kin::app {
namespace {

struct ParseTest : testing::Test {
  ParseTest() {
    app.set_version_flag("--version").require_subcommand(1, 1);
    seen.require_subcommand(1, 1);
    add.add_option("--threads", threads, "Number of threads");
    inner.hide();
  }

  // The message of the error; empty if there is none.
  std::string problem(std::vector<std::string> arguments) {
    const Result<Asked> asked = parse(app, std::move(arguments));
    return asked ? "" : asked.error().message;
  }

  const CommandLine line{"program", "About the program"};
  const Verb app = line.program();
  const Verb seen = app.add_subcommand("seen", "Sets of ids");
  const Verb add = seen.add_subcommand("add", "Add ids");
  const Verb inner = app.add_subcommand("inner", "Not for users");
  int threads = 0;
};

TEST_F(ParseTest, FillsTheVariablesOfTheVerbThatWasChosen) {
  EXPECT_EQ(*parse(app, {"seen", "add", "--threads", "3"}), Asked::kVerb);
  EXPECT_EQ(threads, 3);
  EXPECT_TRUE(add.parsed());
  EXPECT_FALSE(inner.parsed());
  EXPECT_EQ(add.count("--threads"), 1U);
  EXPECT_EQ(full_name(chosen_verb(app)), "program seen add");
}

TEST_F(ParseTest, KnowsHelpVersionAndALineThatLacksItsVerb) {
  EXPECT_EQ(*parse(app, {"seen", "--help"}), Asked::kHelp);
  EXPECT_EQ(*parse(app, {"--version"}), Asked::kVersion);
  EXPECT_EQ(*parse(app, {}), Asked::kNothing);
  EXPECT_EQ(*parse(app, {"seen"}), Asked::kNothing);
}

TEST_F(ParseTest, SaysInPlainWordsWhatIsWrong) {
  EXPECT_EQ(problem({"sen"}), "\"sen\" is not a command of program; choose one of: seen");
  EXPECT_EQ(problem({"seen", "add", "--thread"}), "there is no option --thread");
  EXPECT_EQ(problem({"seen", "add", "more"}), "too many arguments: more");
  EXPECT_EQ(problem({"seen", "add", "--threads", "x"}),
            "--threads: \"x\" is not a value it can take");
}

}  // namespace
}  // namespace kin::app
