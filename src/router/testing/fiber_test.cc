#include "router/testing/fiber.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kin::router {
namespace {

TEST(Fiber, GoesOnWhereItStopped) {
  std::string story;
  Fiber* self = nullptr;
  Fiber fiber([&] {
    story += "a";
    for (int i = 0; i < 3; ++i) {
      self->suspend();
      story += std::to_string(i);
    }
  });
  self = &fiber;
  int resumed = 0;
  for (; !fiber.ended(); ++resumed) {
    fiber.resume();
    story += "-";
  }
  EXPECT_EQ(story, "a-0-1-2-");
  EXPECT_EQ(resumed, 4);
}

TEST(Fiber, ResumesAnotherOne) {
  std::string story;
  Fiber* inner_self = nullptr;
  Fiber inner([&] {
    story += "b";
    inner_self->suspend();
    story += "d";
  });
  inner_self = &inner;
  Fiber outer([&] {
    story += "a";
    inner.resume();
    story += "c";
  });
  outer.resume();
  EXPECT_TRUE(outer.ended());
  inner.resume();
  EXPECT_TRUE(inner.ended());
  EXPECT_EQ(story, "abcd");
}

TEST(Fiber, HasAStackForDeepCalls) {
  const std::function<std::size_t(std::size_t)> deep = [&](std::size_t depth) -> std::size_t {
    volatile char bytes[1024] = {};
    bytes[depth % sizeof bytes] = 1;
    return depth == 0 ? 0 : deep(depth - 1) + static_cast<std::size_t>(bytes[depth % sizeof bytes]);
  };
  std::size_t found = 0;
  Fiber fiber([&] { found = deep(500); });
  fiber.resume();
  EXPECT_EQ(found, 500U);
}

TEST(Fiber, ThrowsAndCatchesInside) {
  std::string caught;
  Fiber fiber([&] {
    try {
      throw std::string("thrown");
    } catch (const std::string& text) {
      caught = text;
    }
  });
  fiber.resume();
  EXPECT_EQ(caught, "thrown");
}

TEST(Fiber, MayNeverBegin) {
  const Fiber fiber([] {});
  EXPECT_FALSE(fiber.ended());
}

}  // namespace
}  // namespace kin::router
