#include "stories/grouping/sketch_index.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace kin::stories {
namespace {

constexpr const char* kText =
    "The river rose by two metres during the night and by morning the lower town stood under "
    "water, "
    "while firefighters brought the guests of three hotels to safety in boats";

TextSketch sketch(std::string title, std::string summary = kText) {
  TextSketcher sketcher;
  return *sketcher.sketch({.title = std::move(title), .summary = std::move(summary)});
}

TEST(SketchIndex, FindsRepublishedText) {
  SketchIndex index;
  index.add(ItemId{1}, sketch("Lower town under water"));
  index.add(ItemId{2}, sketch("Harbour closed",
                              "Strong wind kept all ferries in the harbour for "
                              "a third day, the port said on Sunday evening"));
  const auto match = index.best(sketch("Lower town under water again"), 0.7);
  ASSERT_TRUE(match);
  EXPECT_EQ(match->item, ItemId{1});
  EXPECT_GE(match->similarity, 0.7);
}

TEST(SketchIndex, FindsNothingAmongOtherTextsOrRemovedOnes) {
  SketchIndex index;
  index.add(ItemId{1}, sketch("Lower town under water"));
  EXPECT_FALSE(
      index.best(sketch("Ferries", "No ferry left the harbour today because of wind"), 0.5));
  index.remove(ItemId{1});
  EXPECT_FALSE(index.best(sketch("Lower town under water"), 0.5));
  EXPECT_FALSE(index.find(ItemId{1}));
}

Signature random_signature(Random& random) {
  Signature signature;
  for (std::uint32_t& value : signature) value = static_cast<std::uint32_t>(random.below(1 << 30));
  return signature;
}

TEST(SketchIndex, FindsAmongManyThatComeAndGo) {
  constexpr std::uint64_t kCount = 3'000;
  Random random(5);
  SketchIndex index;
  std::vector<TextSketch> sketches;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    sketches.push_back(sketch_of_signature(random_signature(random)));
    index.add(ItemId{i}, sketches.back());
    // Rows are used again.
    if (i % 3 == 2) index.remove(ItemId{i - 1});
  }
  for (std::uint64_t i = 0; i < kCount; ++i) {
    const auto match = index.best(sketches[i], 0.9);
    EXPECT_EQ(match.has_value(), i % 3 != 1) << i;
    EXPECT_EQ(match ? match->item : ItemId{i}, ItemId{i});
    EXPECT_EQ(index.find(ItemId{i}).has_value(), i % 3 != 1);
  }
}

TEST(SketchIndex, ComparesTheNewestOfABandThatVeryManyShare) {
  constexpr std::uint64_t kCount = 500;
  Random random(6);
  SketchIndex index;
  const Signature shared = random_signature(random);
  const auto variant = [&] {
    Signature signature = random_signature(random);
    std::copy_n(shared.begin(), 5, signature.begin());
    return sketch_of_signature(signature);
  };
  const TextSketch first = variant();
  index.add(ItemId{0}, first);
  for (std::uint64_t i = 1; i < kCount; ++i) index.add(ItemId{i}, variant());
  // By the shared band alone only the newest are found; the lowest id wins among equals.
  const auto match = index.best(sketch_of_signature(shared), 0.01);
  ASSERT_TRUE(match);
  EXPECT_EQ(match->item, ItemId{kCount - 64});
  EXPECT_EQ(index.best(first, 0.9)->item, ItemId{0});
}

}  // namespace
}  // namespace kin::stories
