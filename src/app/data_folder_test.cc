#include "app/data_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace kin::app {
namespace {

using ::testing::ElementsAre;

TEST(ModelFolders, AreThoseOfTheUserThenOfTheProgramThenOfTheSystem) {
  ::setenv("KINDRED_MODELS", "/mine", 1);
  const auto folders = model_folders("/data", "/opt/kindred/bin/kindred");
  ::unsetenv("KINDRED_MODELS");
  EXPECT_THAT(folders, ElementsAre("/mine", "/data/models", "/opt/kindred/bin/models",
                                   "/opt/kindred/share/kindred/models",
                                   "/usr/local/share/kindred/models", "/usr/share/kindred/models"));
}

TEST(ModelFolders, NameAnInstalledFolderOnce) {
  EXPECT_THAT(model_folders("/data", "/usr/bin/kindred"),
              ElementsAre("/data/models", "/usr/bin/models", "/usr/share/kindred/models",
                          "/usr/local/share/kindred/models"));
}

TEST(ModelFolders, DoWithoutAProgram) {
  EXPECT_THAT(
      model_folders("/data", ""),
      ElementsAre("/data/models", "/usr/local/share/kindred/models", "/usr/share/kindred/models"));
}

TEST(ProgramPath, IsThisTest) {
  EXPECT_EQ(program_path().filename(), "kin_app_test");
}

}  // namespace
}  // namespace kin::app
