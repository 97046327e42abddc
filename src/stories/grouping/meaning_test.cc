#include "stories/grouping/meaning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stories/testing/theme_model.h"

namespace kin::stories {
namespace {

using ::testing::IsEmpty;

MeaningSum sum_of(const std::vector<std::int8_t>& vector) {
  MeaningSum sum;
  sum.add(vector);
  return sum;
}

TEST(Meaning, IsEmptyWithoutAModelOrKnownWords) {
  MeaningReader none;
  EXPECT_THAT(none.read("xaship xasea", ""), IsEmpty());
  MeaningReader reader(std::make_shared<ThemeModel>());
  EXPECT_THAT(reader.read("ship", "xasea"), IsEmpty());
}

TEST(Meaning, IsAlikeForTextsOfOneTheme) {
  MeaningReader reader(std::make_shared<ThemeModel>());
  const MeaningSum sea = sum_of(reader.read("xaship xasea", ""));
  const MeaningSum boat = sum_of(reader.read("xaboat", ""));
  const MeaningSum ice = sum_of(reader.read("xbice", "xaboat"));
  EXPECT_GT(cosine(sea, boat), 0.95);
  EXPECT_GT(cosine(sea, ice), 0.1);
  EXPECT_LT(cosine(sea, ice), 0.7);
  EXPECT_EQ(cosine(sea, MeaningSum()), 0);
}

TEST(Meaning, LeavesOutWhatAllTextsHaveInCommon) {
  MeaningReader reader(std::make_shared<ThemeModel>());
  for (int i = 0; i < 200; ++i) reader.read("xhgames xhsport xaswim", "");
  for (int i = 0; i < 200; ++i) reader.read("xhgames xhsport xbrun", "");
  const MeaningSum swimming = sum_of(reader.read("xhgames xhsport xaswim", ""));
  const MeaningSum running = sum_of(reader.read("xhgames xhsport xbrun", ""));
  EXPECT_LT(cosine(swimming, running), 0);
}

TEST(Meaning, SumsDoNotDependOnTheirOrder) {
  const std::vector<std::int8_t> a{100, -3, 7, 0};
  const std::vector<std::int8_t> b{-27, 90, 1, 1};
  MeaningSum ab = sum_of(a);
  ab.add(b);
  MeaningSum ba = sum_of(b);
  ba.add(sum_of(a));
  EXPECT_EQ(ab, ba);
  ab.subtract(b);
  EXPECT_EQ(ab, sum_of(a));
  ab.subtract(a);
  EXPECT_EQ(ab, MeaningSum());
}

TEST(Meaning, RestoresItsStateOnlyWithTheSameModel) {
  MeaningReader reader(std::make_shared<ThemeModel>());
  reader.read("xaship xbsea", "");
  MeaningReader same(std::make_shared<ThemeModel>());
  EXPECT_TRUE(same.restore(reader.state()));
  EXPECT_EQ(same.read("xcice xbsea", ""), reader.read("xcice xbsea", ""));
  MeaningReader other(std::make_shared<ThemeModel>(8));
  EXPECT_FALSE(other.restore(reader.state()));
  EXPECT_FALSE(MeaningReader().restore(reader.state()));
}

}  // namespace
}  // namespace kin::stories
