#include "index/truth/doc_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "index/vector/filter.h"

namespace kin::index {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Numbers = std::vector<std::uint32_t>;

TEST(DocSet, KeepsEachNumberOnceAndInOrder) {
  DocSet set(Numbers{9, 2, 9, 70'000});
  set.add(5);
  set.add(Numbers{1, 2});
  set.remove(9);
  EXPECT_THAT(set.numbers(), ElementsAre(1, 2, 5, 70'000));
  EXPECT_EQ(set.size(), 4U);
  EXPECT_EQ(set.largest(), 70'000U);
  set.keep(DocSet(Numbers{2, 3, 70'000}));
  EXPECT_THAT(set.numbers(), ElementsAre(2, 70'000));
}

TEST(DocSet, ARangeWithoutSomeNumbers) {
  DocSet set = DocSet::below(5);
  set.remove(DocSet(Numbers{0, 3, 9}));
  EXPECT_THAT(set.numbers(), ElementsAre(1, 2, 4));
  EXPECT_THAT(DocSet::below(0).numbers(), IsEmpty());
}

TEST(DocSet, GivesPagesWithoutGaps) {
  const DocSet set(Numbers{1, 3, 5, 7, 9});
  EXPECT_THAT(set.numbers(0, 2), ElementsAre(1, 3));
  EXPECT_THAT(set.numbers(2, 2), ElementsAre(5, 7));
  EXPECT_THAT(set.numbers(4, 2), ElementsAre(9));
  EXPECT_THAT(set.numbers(5, 2), IsEmpty());
  EXPECT_THAT(set.numbers(SIZE_MAX, SIZE_MAX), IsEmpty());
}

TEST(IdFilter, AnswersAsItsSetDoesWhetherDenseOrSparse) {
  for (const Numbers& numbers : {Numbers{}, Numbers{0}, Numbers{0, 63, 64, 65, 127},
                                 Numbers{3, 4'000'000'000U}, Numbers{5, 900, 1'800}}) {
    const DocSet set(numbers);
    const IdFilter filter(set);
    EXPECT_EQ(filter.size(), numbers.size());
    for (const std::uint32_t id : {0U, 1U, 3U, 5U, 63U, 64U, 65U, 66U, 127U, 128U, 900U, 1'800U,
                                   1'801U, 4'000'000'000U, 4'000'000'001U})
      EXPECT_EQ(filter.contains(id), set.contains(id)) << id;
    EXPECT_EQ(filter.ids(), numbers);
  }
}

}  // namespace
}  // namespace kin::index
