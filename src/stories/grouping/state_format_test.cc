#include "stories/grouping/state_format.h"

#include <gtest/gtest.h>

#include "base/hash.h"

namespace kin::stories {
namespace {

GrouperState some_state() {
  Grouper grouper;
  std::uint64_t id = 0;
  for (const char* title :
       {"Ferry Olympia stranded near Chania", "Tram drivers strike in Lisbon, day 3",
        "Passengers of ferry Olympia rescued near Chania", "iOS 7.1 is out"})
    grouper.add({.id = ItemId{++id},
                 .title = title,
                 .published_at = static_cast<UnixSeconds>(1'700'000'000 + id * 60),
                 .source = "Post",
                 .summary = id == 1 ? "The ship ran onto rocks at night" : "",
                 .url = "https://example.com/" + std::to_string(id)});
  (void)grouper.separate(ItemId{3});
  return grouper.export_state();
}

TEST(StateFormat, GivesBackWhatWentIn) {
  const GrouperState state = some_state();
  const auto decoded = decode_state(encode_state(state));
  ASSERT_TRUE(decoded.ok()) << decoded.error().message;
  EXPECT_EQ(*decoded, state);
  EXPECT_TRUE(Grouper::restore({}, *decoded).ok());
}

TEST(StateFormat, IsTheSameForEver) {
  GrouperState state;
  state.terms = {{.key = 17,
                  .kind = TermKind::kNumber,
                  .share = 0.5F,
                  .capital = 1,
                  .shown = 3,
                  .stories = 2}};
  state.counted_stories = 2;
  state.counted_headlines = 5;
  state.next_story = 3;
  state.next_arrival = 1;
  state.newest = 100;
  state.swept = 90;
  Member member{.item = ItemId{7}, .published_at = 100, .source = 5, .keys = {11, 12}};
  member.features.terms = {{TermId{0}, kTitleCount}};
  member.features.meaning = {5, -7};
  member.length = 2.5;
  member.features.names = {{TermId{0}, true}};
  member.features.placed = {{9, TermId{0}}};
  Story story{.id = StoryId{2}, .representative = ItemId{7}, .first = 100, .last = 100};
  story.add(member);
  Profile profile{.terms = {{TermId{0}, kTitleCount, 1}},
                  .members = 1,
                  .length = 2,
                  .parts = 3,
                  .meaning = {}};
  profile.meaning.add(member.features.meaning);
  state.stories = {{story, profile}};
  state.signatures = {{ItemId{7}, {1, 2, 3}}};
  state.aliases = {{StoryId{1}, StoryId{2}}};
  state.apart = {{StoryId{2}, StoryId{4}}};
  state.columns = {{23, 95}};
  state.meaning = {.model = 6, .sum = {0.25, 0.5}, .count = 1};
  const std::string bytes = encode_state(state);
  EXPECT_EQ(bytes.size(), 832u);
  EXPECT_EQ(hash64(bytes), 16566914347378885526u);
  EXPECT_EQ(*decode_state(bytes), state);
}

TEST(StateFormat, NoticesEveryChangedByteAndEveryMissingOne) {
  const std::string bytes = encode_state(some_state());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_FALSE(decode_state(changed).ok()) << i;
    EXPECT_FALSE(decode_state(std::string_view(bytes).substr(0, i)).ok()) << i;
  }
}

}  // namespace
}  // namespace kin::stories
