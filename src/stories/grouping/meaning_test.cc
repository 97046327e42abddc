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
  EXPECT_THAT(none.read("ship1 sea1", ""), IsEmpty());
  MeaningReader reader(std::make_shared<ThemeModel>());
  EXPECT_THAT(reader.read("ship", "sea1"), IsEmpty());
}

TEST(Meaning, IsAlikeForTextsOfOneTheme) {
  MeaningReader reader(std::make_shared<ThemeModel>());
  const MeaningSum sea = sum_of(reader.read("ship1 sea1", ""));
  const MeaningSum boat = sum_of(reader.read("boat1", ""));
  const MeaningSum ice = sum_of(reader.read("ice2", "boat1"));
  EXPECT_GT(cosine(sea, boat), 0.95);
  EXPECT_GT(cosine(sea, ice), 0.1);
  EXPECT_LT(cosine(sea, ice), 0.7);
  EXPECT_EQ(cosine(sea, MeaningSum()), 0);
}

TEST(Meaning, LeavesOutWhatAllTextsHaveInCommon) {
  MeaningReader reader(std::make_shared<ThemeModel>());
  for (int i = 0; i < 200; ++i) reader.read("games0 sport0 swim1", "");
  for (int i = 0; i < 200; ++i) reader.read("games0 sport0 run2", "");
  const MeaningSum swimming = sum_of(reader.read("games0 sport0 swim1", ""));
  const MeaningSum running = sum_of(reader.read("games0 sport0 run2", ""));
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
  reader.read("ship1 sea2", "");
  MeaningReader same(std::make_shared<ThemeModel>());
  EXPECT_TRUE(same.restore(reader.state()));
  EXPECT_EQ(same.read("ice3 sea2", ""), reader.read("ice3 sea2", ""));
  MeaningReader other(std::make_shared<ThemeModel>(8));
  EXPECT_FALSE(other.restore(reader.state()));
  EXPECT_FALSE(MeaningReader().restore(reader.state()));
}

}  // namespace
}  // namespace kin::stories
