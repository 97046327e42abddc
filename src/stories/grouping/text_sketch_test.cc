#include "stories/grouping/text_sketch.h"

#include <gtest/gtest.h>

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

TEST(TextSketch, FindsRepublishedText) {
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

TEST(TextSketch, FindsNothingAmongOtherTextsOrRemovedOnes) {
  SketchIndex index;
  index.add(ItemId{1}, sketch("Lower town under water"));
  EXPECT_FALSE(
      index.best(sketch("Ferries", "No ferry left the harbour today because of wind"), 0.5));
  index.remove(ItemId{1});
  EXPECT_FALSE(index.best(sketch("Lower town under water"), 0.5));
  EXPECT_EQ(index.find(ItemId{1}), nullptr);
}

TEST(TextSketch, IsRestoredFromItsSignature) {
  const TextSketch original = sketch("Lower town under water");
  EXPECT_EQ(sketch_of_signature(original.signature), original);
}

TEST(TextSketch, PassesOverTextsOfAWordOrTwo) {
  TextSketcher sketcher;
  EXPECT_FALSE(sketcher.sketch({.title = "Ferries stop"}));
  EXPECT_FALSE(sketcher.sketch({.title = "\xFF\xFE\xFF not UTF-8 at all, this one"}));
}

}  // namespace
}  // namespace kin::stories
