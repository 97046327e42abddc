#include "stories/grouping/vetoes.h"

#include <gtest/gtest.h>

#include <vector>

namespace kin::stories {
namespace {

constexpr TermId kCusco{1};
constexpr TermId kPokhara{2};
constexpr TermId kAndes{3};
using Names = std::vector<TermId>;

// A story with one headline for each list of names.
struct Told {
  Story story;
  Profile profile;

  explicit Told(const std::vector<Names>& headlines) {
    for (const auto& names : headlines) {
      Member member{.item = ItemId{story.members.size() + 1}};
      for (const TermId name : names) {
        member.features.names.push_back({name, false});
        member.features.terms.push_back({name, kTitleCount});
        count(name);
      }
      story.add(member);
      ++profile.members;
    }
  }
  operator NamedStory() const { return {story, profile}; }

 private:
  // Names come in their order.
  void count(TermId name) {
    for (ProfileTerm& part : profile.terms) {
      if (part.term == name) return static_cast<void>(++part.count);
    }
    profile.terms.push_back({name, kTitleCount, 1});
  }
};

TEST(Vetoes, FindStoriesThatAreAboutOtherNames) {
  EXPECT_TRUE(are_about_others(Told({{kCusco}, {kCusco}}), Told({{kPokhara}})));
  EXPECT_TRUE(are_about_others(Told({{kPokhara}}), Told({{kCusco}, {kCusco}, {}})));
}

TEST(Vetoes, NeedNamesOnBothSides) {
  EXPECT_FALSE(are_about_others(Told({{kCusco}, {kCusco}}), Told({Names{}})));
  EXPECT_FALSE(are_about_others(Told({Names{}}), Told({{kCusco}})));
  // In one of three headlines it is not what the story is about.
  EXPECT_FALSE(are_about_others(Told({{kCusco}, {}, {}}), Told({{kPokhara}})));
}

TEST(Vetoes, AcceptOneNameInCommon) {
  EXPECT_FALSE(are_about_others(Told({{kCusco, kAndes}, {kCusco}}), Told({{kPokhara, kAndes}})));
  // A name that is mentioned there is not missing.
  EXPECT_FALSE(
      are_about_others(Told({{kCusco}, {kCusco}, {kCusco, kPokhara}}), Told({{kPokhara}})));
}

}  // namespace
}  // namespace kin::stories
