#include "index/draw.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "index/testing/truth_fixture.h"

namespace kin::index {
namespace {

class DrawTest : public TruthFixture {
 protected:
  static constexpr std::size_t kEach = 30;

  DrawTest() {
    for (std::uint32_t partition = 1; partition <= 3; ++partition) {
      for (std::size_t i = 0; i < kEach; ++i)
        do_all({PutEntity{.entity = made(std::to_string(partition) + "-" + std::to_string(i)),
                          .partition = PartitionId{partition}}});
    }
    do_all({RemoveEntity{.id = id("1-0")}});
  }
  Draw draw(std::size_t limit, std::uint64_t seed = 1) {
    return *draw_entities(
        view(), {.partitions = {PartitionId{1}, PartitionId{3}}, .limit = limit, .seed = seed});
  }
};

TEST_F(DrawTest, EverythingIsDrawnWithItsPartitionIfTheLimitAllowsIt) {
  const Draw all = draw(2 * kEach);
  ASSERT_EQ(all.entities.size(), 2 * kEach - 1) << "one was removed";
  EXPECT_EQ(all.below, std::numeric_limits<std::uint64_t>::max());
  EXPECT_TRUE(std::ranges::is_sorted(all.entities));
  EXPECT_EQ(std::ranges::count(all.entities, PartitionId{1}, &DrawnEntity::partition), kEach - 1);
  EXPECT_EQ(std::ranges::count(all.entities, PartitionId{3}, &DrawnEntity::partition), kEach);
}

TEST_F(DrawTest, ALimitKeepsTheLowestLots) {
  const Draw all = draw(2 * kEach);
  for (const std::size_t limit : {1, 7, 40}) {
    const Draw some = draw(limit);
    EXPECT_EQ(some.entities,
              std::vector(all.entities.begin(),
                          all.entities.begin() + static_cast<std::ptrdiff_t>(limit)));
    EXPECT_EQ(some.below, all.entities[limit].lot);
  }
}

TEST_F(DrawTest, AnotherSeedDrawsOthers) {
  std::set<DocId> drawn;
  for (const std::uint64_t seed : {1, 2, 3}) {
    for (const DrawnEntity& one : draw(5, seed).entities) drawn.insert(one.id);
  }
  EXPECT_GT(drawn.size(), 8U);
  EXPECT_EQ(draw(5).entities, draw(5).entities);
}

}  // namespace
}  // namespace kin::index
