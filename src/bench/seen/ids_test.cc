#include "bench/seen/ids.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace kin::bench {
namespace {

TEST(IdStreamTest, KnowsOfEachIdWhetherItIsNew) {
  IdStream stream(5, 0.2);
  std::set<std::uint64_t> model;
  std::vector<std::uint64_t> ids(1'000);
  std::vector<std::uint8_t> is_new(ids.size());
  std::size_t repeats = 0;
  for (int batch = 0; batch < 50; ++batch) {
    stream.next(ids, is_new);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      EXPECT_EQ(model.insert(ids[i]).second, is_new[i] == 1);
      repeats += is_new[i] == 0;
    }
  }
  EXPECT_EQ(model.size(), stream.count());
  EXPECT_NEAR(static_cast<double>(repeats) / 50'000, 0.2, 0.01);
  for (std::uint64_t n = 0; n < 1'000; ++n) {
    EXPECT_TRUE(model.contains(stream.id(n)));
    EXPECT_FALSE(model.contains(stream.id(stream.count() + n)));
  }
}

}  // namespace
}  // namespace kin::bench
