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
