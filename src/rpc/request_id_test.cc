#include "rpc/request_id.h"

#include <gtest/gtest.h>

#include <thread>

namespace kin::rpc {
namespace {

TEST(RequestId, ScopesAreNestedAndOfOneThread) {
  EXPECT_EQ(current_request_id(), "");
  const RequestScope outer("outer");
  {
    const RequestScope inner("inner");
    EXPECT_EQ(current_request_id(), "inner");
    std::thread([] { EXPECT_EQ(current_request_id(), ""); }).join();
  }
  EXPECT_EQ(current_request_id(), "outer");
}

TEST(RequestId, IsShortAndHarmless) {
  EXPECT_TRUE(is_request_id("3f-A_9.z"));
  EXPECT_TRUE(is_request_id(std::string(64, 'x')));
  EXPECT_FALSE(is_request_id(std::string(65, 'x')));
  for (const char* id : {"", "a b", "a\n", "\"", "é"}) EXPECT_FALSE(is_request_id(id)) << id;
}

}  // namespace
}  // namespace kin::rpc
