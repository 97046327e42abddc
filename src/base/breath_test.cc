#include "base/breath.h"

#include <gtest/gtest.h>

#include <thread>

namespace kin {
namespace {

TEST(Breath, IsTakenOnTheThreadThatBreathesAndWhileItDoes) {
  int taken = 0;
  take_breath();
  {
    const Breathing breathing([&] { ++taken; });
    take_breath();
    std::thread([] { take_breath(); }).join();
    take_breath();
  }
  take_breath();
  EXPECT_EQ(taken, 2);
}

}  // namespace
}  // namespace kin
