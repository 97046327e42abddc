#include "index/shard/near_duplicates.h"

#include <gtest/gtest.h>

#include <set>

#include "base/random.h"
#include "index/graph.h"
#include "index/testing/shard_fixture.h"
#include "sketch/jaccard.h"

namespace kin::index {
namespace {

Entity saying(std::string text) {
  Entity entity;
  entity.text = std::move(text);
  return entity;
}

std::string prose(Random& random, int words) {
  std::string text;
  for (int i = 0; i < words; ++i) text += "w" + std::to_string(random.below(5'000)) + " ";
  return text;
}

// The text with some of its words replaced.
std::string altered(const std::string& text, Random& random, int words) {
  std::vector<std::string> all;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find(' ', at);
    all.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  for (int i = 0; i < words; ++i) all[random.below(all.size())] = "other";
  std::string made;
  for (const std::string& word : all) made += word + " ";
  return made;
}

TEST(NearDuplicates, FindsNearlyAllPairsAtTheThreshold) {
  NearDuplicates near = *NearDuplicates::create(0.7);
  Random random(1);
  std::vector<std::string> texts;
  for (std::uint32_t i = 0; i < 2'000; ++i) {
    texts.push_back(prose(random, 120));
    near.learn(i * 3, near.sketch(saying(texts.back())).keys);
  }
  int due = 0;
  int found = 0;
  for (std::uint32_t i = 0; i < texts.size(); ++i) {
    const TextSketch sketch = near.sketch(saying(altered(texts[i], random, 4)));
    const TextSketch original = near.sketch(saying(texts[i]));
    if (sketch::exact_jaccard(sketch.shingles, original.shingles) < 0.7) continue;
    ++due;
    const auto candidates = near.candidates(sketch.keys);
    found += std::ranges::count(candidates, i * 3) > 0 ? 1 : 0;
    EXPECT_LT(candidates.size(), 10U);
  }
  EXPECT_GT(due, 300);
  EXPECT_GE(found, due * 99 / 100);
}

TEST(NearDuplicates, ForgetsAndRestoresFromPages) {
  NearDuplicates near = *NearDuplicates::create(0.8);
  Random random(2);
  std::vector<TextSketch> sketches;
  for (std::uint32_t i = 0; i < 10'000; ++i) {
    sketches.push_back(near.sketch(saying(prose(random, 20))));
    near.learn(i, sketches.back().keys);
  }
  const auto first = near.checkpoint(NearDuplicates::Scope::kChanged);
  EXPECT_EQ(first.changed.size(), 3U);
  for (std::uint32_t i = 0; i < 4'000; ++i) near.forget(i);
  EXPECT_EQ(near.size(), 6'000U);
  EXPECT_TRUE(near.candidates(sketches[3'999].keys).empty());
  EXPECT_EQ(near.candidates(sketches[4'000].keys), std::vector<std::uint32_t>{4'000});
  const auto second = near.checkpoint(NearDuplicates::Scope::kChanged);
  ASSERT_EQ(second.changed.size(), 1U);
  EXPECT_EQ(second.changed[0].first, 0U);

  NearDuplicates again = *NearDuplicates::create(0.8);
  ASSERT_TRUE(again.restore(*decode_signature_page(second.changed[0].second)).ok());
  ASSERT_TRUE(again.restore(*decode_signature_page(first.changed[1].second)).ok());
  ASSERT_TRUE(again.restore(*decode_signature_page(first.changed[2].second)).ok());
  EXPECT_EQ(again.numbers(), near.numbers());
  EXPECT_TRUE(again.checkpoint(NearDuplicates::Scope::kChanged).changed.empty());
  EXPECT_EQ(again.candidates(sketches[9'999].keys), std::vector<std::uint32_t>{9'999});
  EXPECT_FALSE(again.restore(*decode_signature_page(first.changed[1].second)).ok());
}

TEST(NearDuplicates, StaysFastWhereVeryManySayTheSame) {
  NearDuplicates near = *NearDuplicates::create(0.8);
  const TextSketch same = near.sketch(saying("the very same words in every one of them"));
  for (std::uint32_t i = 0; i < 50'000; ++i) near.learn(i, same.keys);
  EXPECT_EQ(near.candidates(same.keys).size(), NearDuplicates::kMostCandidates);
}

TEST(NearDuplicates, ShortTextsAreNearOnlyWhatHasTheirWords) {
  const NearDuplicates near = *NearDuplicates::create(0.8);
  EXPECT_EQ(near.sketch(saying("Red fox")).shingles, near.sketch(saying("red  FOX!")).shingles);
  EXPECT_NE(near.sketch(saying("red fox")).keys, near.sketch(saying("red foxes")).keys);
  EXPECT_TRUE(near.sketch(saying("!?")).keys.empty());
  EXPECT_FALSE(near.sketch(saying("bad \xFF\xC3 bytes")).keys.empty());
}

TEST(SignaturePageFormat, HasNotChanged) {
  const SignaturePage page{.bands = 2, .numbers = {3, 9}, .keys = {1, 2, 3, 4}};
  const std::string bytes = encode(page);
  EXPECT_EQ(*decode_signature_page(bytes), page);
  EXPECT_EQ(checksum(bytes), 9158055779115798117U);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string flipped = bytes;
    flipped[i] = static_cast<char>(flipped[i] ^ 4);
    EXPECT_FALSE(decode_signature_page(flipped).ok());
  }
}

class ShardNearDuplicatesTest : public ShardFixture {
 protected:
  using Action = NearDuplicateOptions::Action;

  void open_with(Action action) {
    ShardOptions options;
    options.near_duplicates = NearDuplicateOptions{.threshold = 0.6, .action = action};
    open(options);
  }

  static std::string story(const std::string& last) {
    return "a long story about ships that sail along the coast in the fog, told at night by " +
           last;
  }

  std::vector<GraphEdge> links(std::string_view key) {
    return *edges(shard().view().truth(),
                  {.node = id(key), .filter = {.names = {std::string(kNearDuplicateOf)}}});
  }
};

TEST_F(ShardNearDuplicatesTest, AreLinkedToTheMostSimilar) {
  open_with(Action::kLink);
  apply({PutEntity{.entity = made("a", story("Ann"))},
         PutEntity{.entity = made("b", story("Bob and his two sisters"))}});
  ASSERT_EQ(links("b").size(), 1U) << "within one batch";
  apply({PutEntity{.entity = made("c", story("Ann"))}});
  ASSERT_EQ(links("c").size(), 1U);
  EXPECT_EQ(links("c")[0].id.to, id("a"));
  EXPECT_EQ(links("c")[0].weight, 1.0);
  EXPECT_TRUE(links("a").empty());
  expect_clean();
}

TEST_F(ShardNearDuplicatesTest, AnUpdateDoesNotFindItselfAndLosesALinkThatNoLongerHolds) {
  open_with(Action::kLink);
  apply({PutEntity{.entity = made("a", story("Ann"))}});
  apply({PutEntity{.entity = made("a", story("Ann"))}});
  EXPECT_TRUE(links("a").empty());
  apply({PutEntity{.entity = made("b", story("Ann"))}});
  ASSERT_EQ(links("b").size(), 1U);
  apply({PutEntity{.entity = made("b", "something else altogether, which is about gardens")}});
  EXPECT_TRUE(links("b").empty());
  apply({RemoveEntity{.id = id("a")}, PutEntity{.entity = made("c", story("Ann"))}});
  EXPECT_TRUE(links("c").empty()) << "the one it was near to left in the same batch";
  expect_clean();
}

TEST_F(ShardNearDuplicatesTest, AreRefusedWithWhatBelongsToThem) {
  open_with(Action::kRefuse);
  apply({PutEntity{.entity = made("a", story("Ann"))}});
  const Applied applied =
      apply({PutEntity{.entity = made("b", story("Ann"))}, PutEdge{.edge = edge("b", "x", "a")},
             PutEntity{.entity = made("c", "other words")}, PutEdge{.edge = edge("c", "x", "b")},
             AddFragment{.id = id("b"), .fragment = {.text = "said"}}});
  std::vector<Effect> effects;
  for (const Outcome& outcome : applied.outcomes) effects.push_back(outcome.effect);
  EXPECT_EQ(effects, (std::vector<Effect>{Effect::kDuplicate, Effect::kDuplicate, Effect::kDone,
                                          Effect::kDone, Effect::kDuplicate}));
  EXPECT_EQ(shard().view().truth().counters().entities, 2U);
  EXPECT_EQ(shard().view().truth().counters().edges, 1U);
  expect_clean();
}

TEST_F(ShardNearDuplicatesTest, LeaveNoLinkInAPartitionOfAnotherOwner) {
  open_with(Action::kLink);
  apply({PutEntity{.entity = made("a", story("Ann"))},
         AssignOwner{.partition = PartitionId{0}, .epoch = 1, .owned = true}});
  const Applied applied =
      apply({PutEntity{.entity = made("b", story("Ann")), .partition = PartitionId{5}}});
  EXPECT_EQ(applied.outcomes[0].effect, Effect::kNotOwned);
  EXPECT_EQ(shard().view().truth().counters().edges, 0U);
  apply({PutEntity{.entity = made("b", story("Ann"))}});
  EXPECT_EQ(links("b").size(), 1U);
  expect_clean();
}

TEST_F(ShardNearDuplicatesTest, AreKnownAfterOpeningAgain) {
  open_with(Action::kRefuse);
  apply({PutEntity{.entity = made("a", story("Ann"))}});
  ASSERT_TRUE(shard().checkpoint().ok());
  apply({PutEntity{.entity = made("z", "the cat sat on the mat and slept all day")}});
  drop();
  open_with(Action::kRefuse);
  const Applied applied =
      apply({PutEntity{.entity = made("b", story("Ann"))},
             PutEntity{.entity = made("y", "the cat sat on the mat and slept all day")}});
  EXPECT_EQ(applied.outcomes[0].effect, Effect::kDuplicate);
  EXPECT_EQ(applied.outcomes[1].effect, Effect::kDuplicate);
  expect_clean();
}

TEST_F(ShardNearDuplicatesTest, AreLookedForAmongWhatWasThereBeforeTheOption) {
  open({});
  apply({PutEntity{.entity = made("a", story("Ann"))}});
  ASSERT_TRUE(shard().checkpoint().ok());
  drop();
  open_with(Action::kRefuse);
  EXPECT_EQ(apply({PutEntity{.entity = made("b", story("Ann"))}}).outcomes[0].effect,
            Effect::kDuplicate);
}

}  // namespace
}  // namespace kin::index
