#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "stories/newsroom/lead.h"
#include "stories/testing/news_fixture.h"

namespace kin::stories {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using namespace std::chrono_literals;

constexpr const char* kFerry = "Ferry Olympia stranded near Chania";
constexpr const char* kRescue = "Passengers of stranded ferry Olympia rescued near Chania";
constexpr const char* kTram = "Tram drivers strike in Lisbon";

class NewsTimelineTest : public NewsroomTest {};

TEST_F(NewsTimelineTest, FiltersByFeedAndFolder) {
  const FeedId a = add(server->publish("post", {{kFerry, kNow - 3h}}), "Sea/Greece");
  add(server->publish("times", {{kRescue, kNow - 1h}}), "Sea");
  add(server->publish("city", {{kTram, kNow - 2h}}), "Seaside");
  EXPECT_THAT(titles({.feed = a}), ElementsAre(kFerry));
  EXPECT_THAT(titles({.folder = "Sea"}), ElementsAre(kRescue)) << "the newest of its feeds";
  EXPECT_THAT(titles({.folder = "Sea/Greece"}), ElementsAre(kFerry));
  EXPECT_THAT(titles({.folder = "Seaside"}), ElementsAre(kTram));
  EXPECT_THAT(titles({.folder = "Se"}), IsEmpty());
  EXPECT_EQ(timeline({.folder = "Sea"}).unread, 1);
}

TEST_F(NewsTimelineTest, FindsWords) {
  add(server->publish("post", {{"Café in Zürich burns", kNow - 3h, "Nobody was hurt"},
                               {kTram, kNow - 2h},
                               {"東京で大雪", kNow - 1h}}));
  EXPECT_THAT(titles({.text = "cafe"}), ElementsAre("Café in Zürich burns"));
  EXPECT_THAT(titles({.text = "ZURICH nobo"}), ElementsAre("Café in Zürich burns"));
  EXPECT_THAT(titles({.text = "nobo zurich"}), IsEmpty());
  EXPECT_THAT(titles({.text = "lisbon drivers"}), ElementsAre(kTram));
  for (const char* text : {"東京", "大雪", "雪", "東京 大雪"})
    EXPECT_THAT(titles({.text = text}), ElementsAre("東京で大雪")) << text;
  EXPECT_THAT(titles({.text = "京東"}), IsEmpty());
  for (const char* text : {"\"", "a\"b", "AND", "NOT", "x* y", "title:tram", "(", "-", "東", "—"})
    EXPECT_TRUE(room_->timeline({.text = text}).ok()) << text;
}

TEST_F(NewsTimelineTest, CommonWordsAloneMatchNothing) {
  add(server->publish("post", {{"The ferry is in the port of Chania", kNow - 3h}}));
  for (const char* text : {"the", "The", "of the", "is in"}) {
    EXPECT_THAT(titles({.text = text}), IsEmpty()) << text;
    EXPECT_THAT(timeline({.text = text}).words, IsEmpty()) << text;
  }
  const TimelinePage page = timeline({.text = "the Pórt of chan"});
  EXPECT_THAT(page.stories, SizeIs(1));
  ASSERT_THAT(page.words, SizeIs(2)) << "what is marked";
  EXPECT_EQ(page.words[0].text, "port");
  EXPECT_FALSE(page.words[0].prefix);
  EXPECT_EQ(page.words[1].text, "chan");
  EXPECT_TRUE(page.words[1].prefix);
}

TEST(IsGoodHeadline, TellsHeadlinesFromLabels) {
  for (const char* title : {"Ferry Olympia stranded near Chania", "東京で大雪",
                            "US, UK and EU sign pact", "Apple: the M4 is here", "Rain in Porto"})
    EXPECT_TRUE(is_good_headline(title)) << title;
  for (const char* title :
       {"", "Video", "VIDEO: Ferry stranded near Chania", "Live | The storm at sea",
        "https://example.org/a-b-c-d", "Ferry Olympia stranded near…",
        "FERRY OLYMPIA STRANDED NEAR CHANIA", "Breaking news"})
    EXPECT_FALSE(is_good_headline(title)) << title;
}

// So many stories match that they are searched from the top of the timeline.
TEST_F(NewsTimelineTest, FindsWordsThatVeryManyHave) {
  std::vector<Published> items;
  const auto at = [](int i) { return kNow - std::chrono::minutes(5'000 - i); };
  for (int i = 0; i < 5'000; ++i)
    items.push_back({"day " + std::to_string(i * 7919) + (i % 500 == 0 ? " rain" : " sun"), at(i)});
  FeedId id{};
  for (int part = 0; part < 5; ++part) {
    const std::vector<Published> some(items.begin() + part * 1'000,
                                      items.begin() + (part + 1) * 1'000);
    id = add(server->publish("days" + std::to_string(part), some), part == 4 ? "Late" : "Early");
  }
  const auto count = [&](TimelineQuery query) {
    std::set<StoryId> seen;
    std::size_t shown = 0;
    do {
      const TimelinePage page = timeline(query);
      for (const StoryView& story : page.stories) seen.insert(story.id);
      shown += page.stories.size();
      query.before = page.next;
    } while (!query.before.empty());
    EXPECT_EQ(seen.size(), shown);
    return shown;
  };
  const std::size_t all = count({.limit = 200});
  EXPECT_GT(all, 1'000);
  EXPECT_EQ(count({.limit = 200, .text = "day"}), all);
  EXPECT_EQ(count({.limit = 200, .text = "da"}), all);
  EXPECT_EQ(count({.limit = 3, .text = "day rain"}), 10);
  EXPECT_EQ(count({.limit = 200, .feed = id, .text = "day"}), count({.limit = 200, .feed = id}));
  EXPECT_EQ(count({.limit = 200, .folder = "Late", .text = "rain"}), 2);
}

TEST_F(NewsTimelineTest, PagesHaveNeitherRepeatsNorGaps) {
  std::vector<Published> items;
  const char* words[] = {"otter", "violin", "glacier", "lantern", "saffron", "quarry", "mitten"};
  for (int i = 0; i < 43; ++i)
    items.push_back({std::string(words[i % 7]) + " " + std::to_string(i * 7919) + " " +
                         words[(i / 7) % 7] + std::to_string(i),
                     kNow - std::chrono::hours(i / 3)});
  const FeedId id = add(server->publish("many", items), "Folder");
  const auto whole = timeline({.limit = 200}).stories;
  for (TimelineQuery query :
       {TimelineQuery{}, TimelineQuery{.feed = id}, TimelineQuery{.folder = "Folder"},
        TimelineQuery{.unread_only = true}}) {
    query.limit = 5;
    std::vector<StoryId> seen;
    do {
      const TimelinePage page = timeline(query);
      for (const StoryView& story : page.stories) seen.push_back(story.id);
      query.before = page.next;
    } while (!query.before.empty());
    ASSERT_THAT(seen, SizeIs(whole.size()));
    for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], whole[i].id);
  }
}

}  // namespace
}  // namespace kin::stories
