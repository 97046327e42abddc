#include "app/command.h"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>

namespace kin::app {
namespace {

using ::testing::internal::CaptureStderr;
using ::testing::internal::GetCapturedStderr;

TEST(ExitCodeOf, IsWhatTheCommandSays) {
  EXPECT_EQ(exit_code_of("kindred", []() -> Result<int> { return kDone; }), kDone);
  EXPECT_EQ(exit_code_of("kindred", []() -> Result<int> { return kWrongUsage; }), kWrongUsage);
}

TEST(ExitCodeOf, PrintsAnErrorAndFails) {
  CaptureStderr();
  EXPECT_EQ(
      exit_code_of("kindred",
                   []() -> Result<int> { return Error{Code::kNotFound, "there is no in.jsonl"}; }),
      kFailed);
  EXPECT_EQ(GetCapturedStderr(), "kindred: there is no in.jsonl\n");
}

TEST(ExitCodeOf, NamesTheProgramThatFailed) {
  CaptureStderr();
  EXPECT_EQ(exit_code_of("kindred-bench",
                         []() -> Result<int> { return Error{Code::kInternal, "no figures"}; }),
            kFailed);
  EXPECT_EQ(GetCapturedStderr(), "kindred-bench: no figures\n");
}

TEST(ExitCodeOf, PrintsAnExceptionThatNobodyExpectedAndFails) {
  CaptureStderr();
  EXPECT_EQ(
      exit_code_of("kindred", []() -> Result<int> { throw std::runtime_error("no such luck"); }),
      kFailed);
  EXPECT_EQ(GetCapturedStderr(), "kindred: no such luck\n");
}

TEST(ExitCodeOf, SaysWhatToDoWhereMemoryIsShort) {
  CaptureStderr();
  EXPECT_EQ(exit_code_of("kindred", []() -> Result<int> { throw std::bad_alloc(); }), kFailed);
  EXPECT_NE(GetCapturedStderr().find("--max-memory"), std::string::npos);
}

}  // namespace
}  // namespace kin::app
