#include "stories/newsroom.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>

#include "base/testing/source_folder.h"
#include "stories/testing/news_fixture.h"

namespace kin::stories {

void NewsroomTest::SetUpTestSuite() {
  server = new NewsServer(source_folder());
}

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;
using namespace std::chrono_literals;

constexpr const char* kFerry = "Ferry Olympia stranded near Chania";
constexpr const char* kRescue = "Passengers of stranded ferry Olympia rescued near Chania";
constexpr const char* kTram = "Tram drivers strike in Lisbon";

TEST_F(NewsroomTest, GroupsTheItemsOfTwoFeeds) {
  const FeedId a = add(server->publish("post", {{kFerry, kNow - 3h}, {kTram, kNow - 2h}}));
  const FeedId b = add(server->publish("times", {{kRescue, kNow - 1h}}));
  const TimelinePage page = timeline();
  ASSERT_THAT(page.stories, SizeIs(2));
  const StoryView& ferry = page.stories[0];
  EXPECT_EQ(ferry.representative.title, kRescue);
  EXPECT_EQ(ferry.representative.feed, b);
  EXPECT_EQ(ferry.representative.source, "times");
  EXPECT_EQ(ferry.representative.tier, Tier::kStory);
  EXPECT_LT(ferry.representative.similarity, 1);
  EXPECT_EQ(ferry.count, 2);
  EXPECT_EQ(ferry.sources, 2);
  EXPECT_EQ(ferry.first, kNow - 3h);
  EXPECT_EQ(ferry.last, kNow - 1h);
  ASSERT_THAT(ferry.others, SizeIs(1));
  EXPECT_EQ(ferry.others[0].title, kFerry);
  EXPECT_EQ(ferry.others[0].feed, a);
  EXPECT_EQ(page.stories[1].representative.title, kTram);
  EXPECT_EQ(page.unread, 2);
  EXPECT_EQ(page.next, "");
}

TEST_F(NewsroomTest, DescribesTheFeedsThatAreFollowed) {
  const std::string url = server->publish("post", {{kFerry, kNow - 3h}, {kTram, kNow - 2h}});
  add(url, "Sea / Greece/");
  const auto feeds = room_->feeds();
  ASSERT_THAT(*feeds, SizeIs(1));
  const FollowedFeed& feed = feeds->front();
  EXPECT_EQ(feed.url, url);
  EXPECT_EQ(feed.title, "post");
  EXPECT_EQ(feed.folder, "Sea/Greece");
  EXPECT_EQ(feed.site, server->url("/"));
  EXPECT_EQ(feed.items, 2);
  EXPECT_EQ(feed.unread, 2);
  EXPECT_EQ(feed.polled, kNow);
  EXPECT_GT(*feed.next_poll, kNow);
  EXPECT_EQ(feed.problem, "");
  EXPECT_TRUE(feed.has_icon);
  EXPECT_EQ(room_->icon(feed.id)->value().type, ImageType::kIco);
  EXPECT_EQ(room_->next_due()->value(), *feed.next_poll);
}

TEST_F(NewsroomTest, FollowsAFeedOnce) {
  const std::string url = server->publish("post", {{kFerry, kNow}});
  add(url);
  const auto again = room_->add_feed({.url = url});
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().code, Code::kFailedPrecondition);
  EXPECT_THAT(again.error().message, HasSubstr("followed already"));
}

TEST_F(NewsroomTest, FindsTheFeedOfAPage) {
  const auto feed = room_->add_feed({.url = server->url("/file/page.html")});
  ASSERT_TRUE(feed.ok()) << feed.error().message;
  EXPECT_NE(feed->url, server->url("/file/page.html"));
  EXPECT_GT(feed->items, 0);
}

TEST_F(NewsroomTest, DoesNotFollowWhatIsNoFeed) {
  EXPECT_FALSE(room_->add_feed({.url = server->url("/status/404")}).ok());
  EXPECT_FALSE(room_->add_feed({.url = "javascript:alert(1)"}).ok());
  EXPECT_FALSE(room_->add_feed({.url = "ftp://example.org/feed"}).ok());
  EXPECT_THAT(*room_->feeds(), IsEmpty());
}

TEST_F(NewsroomTest, KeepsPasswordsOutOfAddresses) {
  std::string url = server->publish("post", {{kFerry, kNow}});
  url.insert(url.find("//") + 2, "ann:secret@");
  const auto feed = room_->add_feed({.url = url});
  ASSERT_TRUE(feed.ok()) << feed.error().message;
  EXPECT_THAT(feed->url, Not(HasSubstr("secret")));
  EXPECT_THAT(*room_->export_opml(), Not(HasSubstr("secret")));
  namespace fs = std::filesystem;
  EXPECT_EQ(fs::status(folder() / "news.db").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(NewsroomTest, AddsWhatIsNewAtEachPoll) {
  add(server->publish("post", {{kFerry, kNow - 1h}}));
  server->publish("post", {{kFerry, kNow - 1h}, {kTram, kNow + 20h}});
  const Newsroom::Refresh refresh = refresh_all();
  EXPECT_EQ(refresh.polled, 1);
  EXPECT_EQ(refresh.failed, 0);
  EXPECT_EQ(refresh.items, 1);
  EXPECT_THAT(titles(), ElementsAre(kTram, kFerry));
  EXPECT_EQ(refresh_all().items, 0);
}

TEST_F(NewsroomTest, UpdatesAnItemWithoutGroupingItAgain) {
  add(server->publish("post", {{kFerry, kNow - 1h, "", "f1"}}));
  add(server->publish("times", {{kRescue, kNow - 30min, "", "r1"}}));
  const StoryView before = story_with(kFerry);
  ASSERT_EQ(before.count, 2);
  server->publish("times", {{kTram, kNow - 30min, "Other words", "r1"}});
  EXPECT_EQ(refresh_all().items, 0);
  const StoryView after = story_with(kTram);
  EXPECT_EQ(after.id, before.id);
  EXPECT_EQ(after.count, 2);
  EXPECT_EQ(after.representative.summary, "Other words");
  EXPECT_THAT(titles({.text = "lisbon"}), ElementsAre(kTram));
  EXPECT_THAT(titles({.text = "rescued"}), IsEmpty());
  expect_sound();
  reopen();
  EXPECT_EQ(story_with(kTram).id, before.id);
}

TEST_F(NewsroomTest, DatesItemsWithoutADateBySight) {
  add(server->url("/versions/dateless"));
  EXPECT_EQ(timeline().stories[0].last, kNow);
}

TEST_F(NewsroomTest, TakesA304AsNoNews) {
  add(server->url("/etag"));
  const auto before = timeline().stories.size();
  const Newsroom::Refresh refresh = refresh_all();
  EXPECT_EQ(refresh.polled, 1);
  EXPECT_EQ(refresh.failed, 0);
  EXPECT_EQ(refresh.items, 0);
  EXPECT_THAT(timeline().stories, SizeIs(before));
  EXPECT_EQ(room_->feeds()->front().polled, now());
}

TEST_F(NewsroomTest, SaysWhyAPollFailed) {
  const FeedId id = add(server->publish("failing", {{kFerry, kNow}}));
  server->withdraw("failing");
  const Newsroom::Refresh refresh = refresh_all();
  EXPECT_EQ(refresh.failed, 1);
  EXPECT_THAT(room_->feed(id)->problem, HasSubstr("404"));
  EXPECT_THAT(titles(), ElementsAre(kFerry));
  server->publish("failing", {{kTram, kNow}});
  EXPECT_EQ(refresh_all().failed, 0);
  EXPECT_EQ(room_->feed(id)->problem, "");
}

TEST_F(NewsroomTest, StopsAskingForAFeedThatIsGone) {
  std::string url = server->url("/status/410");
  const std::string opml = "<opml version='2.0'><body><outline text='Old' xmlUrl='" +
                           url.insert(url.find("//") + 2, "ann:secret@") + "'/></body></opml>";
  ASSERT_EQ(room_->import_opml(opml)->added, 1);
  EXPECT_EQ(room_->feeds()->front().url, server->url("/status/410"));
  EXPECT_EQ(room_->refresh_due()->failed, 1);
  const FollowedFeed feed = room_->feeds()->front();
  EXPECT_TRUE(feed.gone);
  EXPECT_THAT(feed.problem, HasSubstr("removed permanently"));
  EXPECT_EQ(feed.next_poll, std::nullopt);
  EXPECT_EQ(*room_->next_due(), std::nullopt);
  EXPECT_EQ(refresh_all().polled, 0);
}

TEST_F(NewsroomTest, FollowsAFeedThatMovedForGood) {
  const std::string target = server->publish("moved", {{kFerry, kNow}});
  const FeedId id = add(server->url("/redirect/301/file/moved.xml"));
  EXPECT_EQ(room_->feed(id)->url, target);
}

TEST_F(NewsroomTest, RemembersWhatWasReadStarredAndHidden) {
  const FeedId id =
      add(server->publish("post", {{kFerry, kNow - 3h}, {kTram, kNow - 2h}, {"Rain", kNow}}));
  EXPECT_TRUE(room_->edit_story(story_with(kFerry).id, {.read = true, .starred = true})->read);
  EXPECT_TRUE(room_->edit_story(story_with("Rain").id, {.hidden = true})->hidden);
  for (int round = 0; round < 2; ++round) {
    EXPECT_THAT(titles(), ElementsAre(kTram, kFerry));
    EXPECT_THAT(titles({.unread_only = true}), ElementsAre(kTram));
    EXPECT_THAT(titles({.feed = id, .unread_only = true}), ElementsAre(kTram));
    EXPECT_THAT(titles({.starred_only = true}), ElementsAre(kFerry));
    EXPECT_EQ(timeline().unread, 1);
    EXPECT_EQ(timeline({.feed = id}).unread, 1);
    EXPECT_EQ(timeline({.starred_only = true}).unread, 0);
    EXPECT_EQ(room_->feed(id)->unread, 1);
    reopen();
  }
}

TEST_F(NewsroomTest, NewsMakeAStoryUnreadAgainAndLiftIt) {
  add(server->publish("post", {{kFerry, kNow - 3h}, {kTram, kNow - 2h}}));
  room_->edit_story(story_with(kFerry).id, {.read = true}).value();
  EXPECT_EQ(story_with(kFerry).news, 0);
  clock_.advance(1h);
  // Dated before the tram: the time at which it arrived decides.
  add(server->publish("times", {{kRescue, kNow - 150min}}));
  for (int round = 0; round < 2; ++round) {
    const StoryView story = timeline().stories[0];
    EXPECT_EQ(story.count, 2);
    EXPECT_FALSE(story.read);
    EXPECT_EQ(story.news, 1);
    EXPECT_EQ(story.last, kNow - 150min);
    EXPECT_EQ(story.at, kNow + 1h);
    EXPECT_EQ(story.representative.title, kRescue);
    EXPECT_FALSE(story.representative.seen);
    EXPECT_TRUE(story.others[0].seen);
    EXPECT_EQ(timeline({.unread_only = true}).unread, 2);
    reopen();
  }
  EXPECT_TRUE(room_->edit_story(story_with(kFerry).id, {.read = true})->read);
  EXPECT_EQ(timeline().stories[0].at, kNow + 1h) << "it stays where it is";
  EXPECT_FALSE(room_->edit_story(story_with(kFerry).id, {.read = false})->read);
  EXPECT_EQ(story_with(kFerry).news, 0) << "nothing of it is seen";
}

TEST_F(NewsroomTest, ReadingAStoryTakesOnlyWhatWasShown) {
  add(server->publish("post", {{kFerry, kNow - 3h}}));
  const StoryView shown = story_with(kFerry);
  add(server->publish("times", {{kRescue, kNow - 1h}}));
  const auto story = room_->edit_story(shown.id, {.read = true, .before = shown.bound});
  EXPECT_FALSE(story->read);
  EXPECT_EQ(story->news, 1);
}

// News may be stored between the moment at which a story is shown and the reader's mark.
TEST_F(NewsroomTest, MarksAndNewsGiveTheSameStoryInEitherOrder) {
  for (const StoryEdit& edit : {StoryEdit{.read = true}, StoryEdit{.hidden = true}}) {
    for (const bool news_first : {false, true}) {
      SCOPED_TRACE(edit.hidden ? "hidden" : "read");
      SCOPED_TRACE(news_first ? "the news come first" : "the mark comes first");
      room_.reset();
      std::filesystem::remove_all(folder());
      reopen();
      add(server->publish("post", {{kFerry, kNow - 3h}, {kTram, kNow - 2h}}));
      const StoryView shown = story_with(kFerry);
      StoryEdit marks = edit;
      marks.before = shown.bound;
      if (!news_first) room_->edit_story(shown.id, marks).value();
      add(server->publish("times", {{kRescue, kNow - 150min}}));
      if (news_first) room_->edit_story(shown.id, marks).value();
      const StoryView story = timeline().stories[0];
      EXPECT_EQ(story.representative.title, kRescue);
      EXPECT_EQ(story.at, now());
      EXPECT_EQ(story.news, 1);
      EXPECT_FALSE(story.read);
      EXPECT_FALSE(story.hidden);
      expect_sound();
    }
  }
}

// The same page in two feeds of its site.
TEST_F(NewsroomTest, TheSamePageAgainIsNotNews) {
  const auto rss = [](const char* name) {
    return "<rss version='2.0'><channel><title>" + std::string(name) +
           "</title><item><title>Ferry Olympia stranded near Chania</title><guid>" + name +
           "</guid><link>https://post.example/ferry</link></item></channel></rss>";
  };
  add(server->publish_text("all", rss("all")));
  room_->edit_story(story_with(kFerry).id, {.read = true}).value();
  add(server->publish_text("sea", rss("sea")));
  EXPECT_EQ(story_with(kFerry).count, 2);
  EXPECT_TRUE(story_with(kFerry).read);
}

TEST_F(NewsroomTest, NewsBringAHiddenStoryBack) {
  add(server->publish("post", {{kFerry, kNow - 3h}, {kTram, kNow - 2h}}));
  const StoryId ferry = story_with(kFerry).id;
  room_->edit_story(ferry, {.hidden = true}).value();
  EXPECT_THAT(titles(), ElementsAre(kTram));
  EXPECT_THAT(titles({.hidden_only = true}), ElementsAre(kFerry));
  EXPECT_THAT(titles({.text = "ferry"}), IsEmpty());
  EXPECT_THAT(titles({.text = "ferry", .hidden_only = true}), ElementsAre(kFerry));
  add(server->publish("times", {{kRescue, kNow - 150min}}));
  EXPECT_THAT(titles(), ElementsAre(kRescue, kTram));
  EXPECT_THAT(titles({.hidden_only = true}), IsEmpty());
  EXPECT_EQ(timeline().stories[0].news, 1) << "what was hidden was dismissed";
}

TEST_F(NewsroomTest, MergingHidesNoNews) {
  add(server->publish("post", {{kFerry, kNow - 3h}, {kTram, kNow - 2h}, {"Rain in Porto", kNow}}));
  const StoryId ferry = story_with(kFerry).id;
  const StoryId tram = story_with(kTram).id;
  const StoryId rain = story_with("Rain in Porto").id;
  room_->edit_story(ferry, {.hidden = true}).value();
  room_->edit_story(rain, {.read = true}).value();
  const auto both = room_->unite(ferry, tram);
  EXPECT_FALSE(both->hidden);
  EXPECT_FALSE(both->read);
  EXPECT_EQ(both->news, 1) << "the hidden one was dismissed";
  EXPECT_FALSE(room_->unite(both->id, rain)->read);
  EXPECT_EQ(room_->story(rain)->news, 1);
  // Items that leave a story keep their state.
  const StoryView all = *room_->story(rain);
  for (const ItemView& item : all.others)
    if (item.title == kFerry) {
      EXPECT_TRUE(room_->separate(item.id)->read);
    }
}

TEST_F(NewsroomTest, MarksAllThatAQueryShowsAsRead) {
  add(server->publish("post", {{kFerry, kNow - 3h}, {"Rain", kNow - 2h}}), "Sea");
  add(server->publish("times", {{kTram, kNow - 1h}}), "Land");
  EXPECT_EQ(room_->mark_read({.limit = 1, .folder = "Sea"})->stories, 2);
  EXPECT_THAT(titles({.unread_only = true}), ElementsAre(kTram));
  EXPECT_EQ(room_->mark_read({})->stories, 1);
  EXPECT_EQ(room_->mark_read({})->stories, 0);
}

TEST_F(NewsroomTest, MarkingAllTakesOnlyWhatHadArrived) {
  add(server->publish("post", {{kFerry, kNow - 3h}, {kTram, kNow - 2h}}));
  const ItemId bound = timeline().bound;
  add(server->publish("times", {{kRescue, kNow - 1h}, {"Rain in Porto", kNow}}));
  EXPECT_EQ(room_->mark_read({}, bound)->stories, 2);
  EXPECT_THAT(titles({.unread_only = true}), ElementsAre("Rain in Porto", kRescue));
  EXPECT_EQ(story_with(kFerry).news, 1);
  EXPECT_EQ(timeline().unread, 2);
  EXPECT_EQ(room_->feeds()->at(0).unread, 1) << "the ferry, of which the post reported too";
}

TEST_F(NewsroomTest, MarkingAllCanBeUndone) {
  add(server->publish("post", {{kFerry, kNow - 3h}, {kTram, kNow - 2h}, {"Rain in Porto", kNow}}));
  room_->edit_story(story_with("Rain in Porto").id, {.read = true}).value();
  const MarkedRead marked = *room_->mark_read({});
  EXPECT_EQ(timeline().unread, 0);
  reopen();
  // Also after its stories became one.
  room_->unite(story_with(kFerry).id, story_with(kTram).id).value();
  EXPECT_EQ(*room_->undo_mark(marked.undo), 1);
  EXPECT_THAT(titles({.unread_only = true}), ElementsAre(kTram));
  EXPECT_EQ(room_->undo_mark(marked.undo).error().code, Code::kNotFound);
  EXPECT_EQ(room_->undo_mark(77).error().code, Code::kNotFound);
}

TEST_F(NewsroomTest, AFeedsPageLeadsWithItsOwnHeadline) {
  const FeedId post = add(server->publish("post", {{kFerry, kNow - 3h}}), "Sea");
  add(server->publish("times", {{kRescue, kNow - 2h}}));
  add(server->publish("wire", {{"VIDEO: ferry Olympia stranded near Chania", kNow - 1h}}));
  ASSERT_EQ(timeline().stories[0].count, 3);
  EXPECT_THAT(titles(), ElementsAre(kRescue)) << "the newest that is good";
  EXPECT_THAT(titles({.feed = post}), ElementsAre(kFerry));
  EXPECT_THAT(titles({.folder = "Sea"}), ElementsAre(kFerry));
  EXPECT_THAT(titles({.text = "video"}), ElementsAre("VIDEO: ferry Olympia stranded near Chania"));
}

TEST_F(NewsroomTest, ObeysNotThisStory) {
  add(server->publish("post", {{kFerry, kNow - 3h}}));
  add(server->publish("times", {{kRescue, kNow - 1h}}));
  const StoryView both = story_with(kFerry);
  ASSERT_THAT(both.others, SizeIs(1));
  const auto own = room_->separate(both.representative.id);
  ASSERT_TRUE(own.ok()) << own.error().message;
  EXPECT_NE(own->id, both.id);
  EXPECT_EQ(own->representative.title, kRescue);
  EXPECT_EQ(own->representative.tier, Tier::kCorrected);
  EXPECT_EQ(room_->story(both.id)->count, 1);
  reopen();
  server->publish("times", {{kRescue, kNow - 1h}, {kRescue, kNow, "", "again"}});
  EXPECT_EQ(refresh_all().items, 1);
  EXPECT_EQ(room_->story(both.id)->count, 1);
  EXPECT_EQ(room_->story(own->id)->count, 2);
}

TEST_F(NewsroomTest, ObeysSameStoryAndKeepsOldIds) {
  add(server->publish("post", {{kFerry, kNow - 3h}, {kTram, kNow - 2h}}));
  const StoryId ferry = story_with(kFerry).id;
  const StoryId tram = story_with(kTram).id;
  room_->edit_story(tram, {.starred = true}).value();
  const auto both = room_->unite(tram, ferry);
  ASSERT_TRUE(both.ok()) << both.error().message;
  EXPECT_EQ(both->id, std::min(ferry, tram));
  EXPECT_EQ(both->count, 2);
  EXPECT_TRUE(both->starred);
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(room_->story(tram)->id, both->id);
    EXPECT_EQ(room_->story(ferry)->id, both->id);
    EXPECT_THAT(timeline().stories, SizeIs(1));
    reopen();
  }
  EXPECT_TRUE(room_->edit_story(std::max(ferry, tram), {.read = true})->read);
  EXPECT_EQ(room_->unite(tram, ferry)->id, both->id);
}

TEST_F(NewsroomTest, CorrectsStoriesThatAreLongClosed) {
  const auto feed = [&](std::vector<Published> more) {
    std::vector<Published> items{{kFerry, kNow - 3h}, {kRescue, kNow - 2h}, {kTram, kNow - 1h}};
    items.insert(items.end(), more.begin(), more.end());
    return server->publish("post", items);
  };
  add(feed({}));
  const StoryView ferry = story_with(kFerry);
  const StoryId tram = story_with(kTram).id;
  clock_.advance(24h * 20);
  feed({{"Rain", now() - 1h}});
  EXPECT_EQ(refresh_all().items, 1);
  const StoryId rain = story_with("Rain").id;
  const auto own = room_->separate(ferry.others[0].id);
  ASSERT_TRUE(own.ok()) << own.error().message;
  EXPECT_EQ(room_->story(ferry.id)->count, 1);
  EXPECT_EQ(room_->unite(rain, tram)->id, tram);
  expect_sound();
  reopen();
  feed({{"Rain", now() - 1h}, {"Rain goes on", now() + 20h}});
  EXPECT_EQ(refresh_all().items, 1);
  EXPECT_EQ(room_->story(rain)->id, tram);
  EXPECT_EQ(room_->story(own->id)->count, 1);
}

TEST_F(NewsroomTest, RefusesToCorrectWhatIsNotThere) {
  EXPECT_EQ(room_->story(StoryId{7}).error().code, Code::kNotFound);
  EXPECT_EQ(room_->edit_story(StoryId{7}, {.read = true}).error().code, Code::kNotFound);
  EXPECT_EQ(room_->separate(ItemId{7}).error().code, Code::kNotFound);
  EXPECT_EQ(room_->unite(StoryId{7}, StoryId{8}).error().code, Code::kNotFound);
  EXPECT_EQ(room_->remove_feed(FeedId{7}).error().code, Code::kNotFound);
  EXPECT_EQ(room_->edit_feed(FeedId{7}, {.title = "x"}).error().code, Code::kNotFound);
  EXPECT_EQ(room_->timeline({.feed = FeedId{7}}).error().code, Code::kNotFound);
  EXPECT_EQ(room_->timeline({.before = "nonsense"}).error().code, Code::kInvalidArgument);
}

TEST_F(NewsroomTest, LeavesFeedsUngroupedOnRequest) {
  add(server->publish("post", {{kFerry, kNow - 3h}}));
  const auto feed =
      room_->add_feed({.url = server->publish("times", {{kRescue, kNow - 1h}}), .grouped = false});
  EXPECT_FALSE(feed->grouped);
  EXPECT_THAT(timeline().stories, SizeIs(2));
  EXPECT_EQ(story_with(kRescue).representative.tier, Tier::kUngrouped);
  EXPECT_TRUE(room_->edit_feed(feed->id, {.grouped = true})->grouped);
  expect_sound();
  reopen();
  EXPECT_THAT(timeline().stories, SizeIs(2));
}

TEST_F(NewsroomTest, LetsAPreferredSourceRepresentAStory) {
  room_.reset();
  NewsOptions preferring = options();
  preferring.grouping.preferred_sources = {"The Times"};
  room_ = Newsroom::open(folder(), clock_, preferring).value();
  const FeedId post = add(server->publish("post", {{kFerry, kNow - 3h}}));
  const FeedId times = room_
                           ->add_feed({.url = server->publish("times", {{kRescue, kNow - 1h}}),
                                       .title = "The Times"})
                           ->id;
  EXPECT_EQ(timeline().stories[0].representative.feed, times);
  EXPECT_EQ(timeline().stories[0].count, 2);
  // Newer, and of a feed without preference.
  add(server->publish("wire", {{kFerry, kNow - 30min}}));
  EXPECT_EQ(timeline().stories[0].count, 3);
  EXPECT_EQ(timeline().stories[0].representative.feed, times);
  EXPECT_EQ(timeline({.feed = post}).stories[0].representative.feed, post);
  expect_sound();
  reopen();
  EXPECT_NE(timeline().stories[0].representative.feed, times) << "without the preference";
  EXPECT_TRUE(room_->edit_feed(post, {.title = "Harbour Post"}).ok());
}

TEST_F(NewsroomTest, ReadsBesideAWriter) {
  const FeedId id = add(server->publish("post", {{kFerry, kNow - 3h}}));
  std::atomic<bool> done = false;
  std::thread reader([&] {
    while (!done) {
      const auto page = room_->timeline({});
      ASSERT_TRUE(page.ok()) << page.error().message;
      for (const StoryView& story : page->stories) EXPECT_TRUE(room_->story(story.id).ok());
      EXPECT_EQ(room_->feeds()->size(), 1);
    }
  });
  std::vector<Published> items{{kFerry, kNow - 3h}};
  for (int round = 0; round < 10; ++round) {
    items.push_back({"Otter " + std::to_string(round * 7919) + " found", kNow - 2h});
    server->publish("post", items);
    EXPECT_EQ(room_->refresh(std::array{id})->items, 1);
  }
  done = true;
  reader.join();
}

TEST_F(NewsroomTest, RelatesStoriesOfOneSubject) {
  constexpr const char* kInquiry = "Inquiry into ferry Olympia begins in Athens court";
  const std::string url =
      server->publish("post", {{kFerry, kNow - 3h},
                               {kTram, kNow - 2h},
                               {"Library of Chania opens in Lisbon", kNow - 1h},
                               {kInquiry, kNow},
                               {"Owner of ferry Olympia is paid", kNow - 1440h}});
  // Each item is a story.
  room_->add_feed({.url = url, .grouped = false}).value();
  const StoryId ferry = story_with(kFerry).id;
  const auto related = room_->related(ferry);
  ASSERT_TRUE(related.ok()) << related.error().message;
  ASSERT_THAT(*related, SizeIs(1)) << "one word is not enough, and two months are too long";
  EXPECT_EQ(related->front().title, kInquiry);
  EXPECT_EQ(related->front().count, 1);
  EXPECT_THAT(*room_->related(story_with(kTram).id), IsEmpty());
  room_->edit_story(related->front().id, {.hidden = true}).value();
  EXPECT_THAT(*room_->related(ferry), IsEmpty());
  EXPECT_EQ(room_->related(StoryId{77}).error().code, Code::kNotFound);
  const auto reader = Newsroom::open_for_reading(folder());
  EXPECT_TRUE((*reader)->related(ferry).ok());
}

TEST_F(NewsroomTest, TakesAFeedsItemsAlongWhenItGoes) {
  const FeedId a = add(server->publish("post", {{kFerry, kNow - 3h}, {kTram, kNow - 2h}}));
  add(server->publish("times", {{kRescue, kNow - 1h}}));
  const StoryId ferry = story_with(kFerry).id;
  ASSERT_TRUE(room_->remove_feed(a).ok());
  EXPECT_THAT(titles(), ElementsAre(kRescue));
  EXPECT_EQ(room_->story(ferry)->representative.title, kRescue);
  EXPECT_EQ(room_->story(ferry)->count, 1);
  expect_sound();
  reopen();
  EXPECT_THAT(*room_->feeds(), SizeIs(1));
  add(server->publish("third", {{kFerry, kNow - 2h}}));
  EXPECT_EQ(room_->story(ferry)->count, 2);
}

TEST_F(NewsroomTest, KeepsStarredStoriesOfAFeedThatGoes) {
  const std::string url = server->publish("post", {{kFerry, kNow - 3h}, {kTram, kNow - 2h}});
  const FeedId id = add(url, "Sea");
  const StoryId ferry = story_with(kFerry).id;
  room_->edit_story(ferry, {.starred = true}).value();
  EXPECT_EQ(room_->feed(id)->starred, 1);
  ASSERT_TRUE(room_->remove_feed(id).ok());
  for (int round = 0; round < 2; ++round) {
    EXPECT_THAT(*room_->feeds(), IsEmpty());
    EXPECT_EQ(room_->feed(id).error().code, Code::kNotFound);
    EXPECT_EQ(room_->remove_feed(id).error().code, Code::kNotFound);
    EXPECT_THAT(titles({.starred_only = true}), ElementsAre(kFerry));
    EXPECT_THAT(titles(), ElementsAre(kFerry));
    EXPECT_EQ(room_->story(ferry)->representative.source, "post");
    EXPECT_EQ(*room_->next_due(), std::nullopt);
    EXPECT_EQ(room_->timeline({.feed = id}).error().code, Code::kNotFound);
    expect_sound();
    reopen();
  }
  EXPECT_EQ(*room_->sweep(), 0);
  EXPECT_EQ(add(url), id) << "followed again";
  EXPECT_EQ(story_with(kFerry).id, ferry);
  EXPECT_EQ(room_->feed(id)->items, 2);
  ASSERT_TRUE(room_->remove_feed(id).ok());
  room_->edit_story(ferry, {.starred = false}).value();
  EXPECT_EQ(*room_->sweep(), 1);
  EXPECT_THAT(titles(), IsEmpty());
  const FeedId other = add(server->publish("times", {{kRescue, kNow}}));
  room_->edit_story(story_with(kRescue).id, {.starred = true}).value();
  ASSERT_TRUE(room_->remove_feed(other, StarredItems::kRemove).ok());
  EXPECT_THAT(titles({.starred_only = true}), IsEmpty());
}

TEST_F(NewsroomTest, SweepsWhatIsOldAndNotShownAnyMore) {
  add(server->publish("post", {{kFerry, kNow - 3h}, {kTram, kNow - 2h}, {"Rain", kNow}}));
  add(server->publish("times", {{kRescue, kNow - 1h}}));
  room_->edit_story(story_with(kTram).id, {.starred = true}).value();
  clock_.advance(24h * 100);
  EXPECT_EQ(*room_->sweep(), 0) << "their feeds still show them";
  server->publish("post", {{"Snow", now()}});
  refresh_all();
  EXPECT_EQ(*room_->sweep(), 1) << "the ferry has an item that is shown";
  EXPECT_THAT(titles(), ElementsAre("Snow", kRescue, kTram));
  server->publish("times", {{"Storm", now()}});
  refresh_all();
  EXPECT_EQ(*room_->sweep(), 2);
  EXPECT_THAT(titles(), UnorderedElementsAre("Snow", "Storm", kTram));
  expect_sound();
  reopen();
  EXPECT_EQ(*room_->sweep(), 0);
}

TEST_F(NewsroomTest, ImportsWhatItExported) {
  add(server->publish("post", {{kFerry, kNow}}), "Sea/Greece");
  add(server->publish("times", {{kRescue, kNow}}));
  const std::string opml = *room_->export_opml();
  const auto again = room_->import_opml(opml);
  EXPECT_EQ(again->added, 0);
  EXPECT_EQ(again->already, 2);
  const auto feeds = room_->feeds().value();
  for (const FollowedFeed& feed : feeds) ASSERT_TRUE(room_->remove_feed(feed.id).ok());
  EXPECT_EQ(room_->import_opml(opml)->added, 2);
  EXPECT_EQ(*room_->export_opml(), opml);
  EXPECT_EQ(room_->next_due()->value(), now());
  EXPECT_EQ(room_->refresh_due()->items, 2);
  EXPECT_EQ(story_with(kFerry).count, 2);
}

TEST_F(NewsroomTest, TellsListenersWhatChanged) {
  std::vector<NewsEvent> events;
  const auto number = room_->listen([&](const NewsEvent& event) { events.push_back(event); });
  const FeedId id = add(server->publish("post", {{kFerry, kNow - 3h}, {kTram, kNow - 2h}}));
  const StoryId ferry = story_with(kFerry).id;
  const StoryId tram = story_with(kTram).id;
  ASSERT_GE(events.size(), 2);
  EXPECT_THAT(events[0].feeds, ElementsAre(id));
  EXPECT_THAT(events[1].changed, UnorderedElementsAre(ferry, tram));
  events.clear();
  room_->unite(ferry, tram).value();
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_THAT(events[0].changed, ElementsAre(std::min(ferry, tram)));
  ASSERT_THAT(events[0].gone, SizeIs(1));
  EXPECT_EQ(events[0].gone[0].story, std::max(ferry, tram));
  EXPECT_EQ(events[0].gone[0].into, std::min(ferry, tram));
  events.clear();
  ASSERT_TRUE(room_->remove_feed(id).ok());
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].gone[0].into, kNoStory);
  EXPECT_THAT(events[0].feeds, ElementsAre(id));
  room_->stop_listening(number);
  add(server->publish("times", {{kRescue, kNow}}));
  EXPECT_THAT(events, SizeIs(1));
}

TEST_F(NewsroomTest, NamesTheStoryThatIsTold) {
  const std::string text = "The ministry published its yearly figures on tuesday morning in Porto";
  add(server->publish("post", {{text, kNow - 24h * 30}, {kTram, kNow - 24h * 29}}));
  const StoryId first = story_with(text).id;
  clock_.advance(1h);
  add(server->publish("times", {{"Rain", kNow - 1h}, {text + " again", kNow}}));
  EXPECT_EQ(story_with(text + " again").repeats, first);
  EXPECT_EQ(story_with("Rain").repeats, std::nullopt);
  EXPECT_EQ(story_with(kTram).repeats, std::nullopt);
}

TEST_F(NewsroomTest, OneProcessWritesAndOthersRead) {
  add(server->publish("post", {{kFerry, kNow}}));
  const auto second = Newsroom::open(folder(), clock_, options());
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, Code::kFailedPrecondition);
  EXPECT_THAT(second.error().message,
              HasSubstr("in use by another kindred (process " + std::to_string(::getpid()) + ")"));
  const auto reader = Newsroom::open_for_reading(folder());
  ASSERT_TRUE(reader.ok()) << reader.error().message;
  EXPECT_THAT((*reader)->timeline({})->stories, SizeIs(1));
  EXPECT_EQ((*reader)->add_feed({.url = "https://example.org"}).error().code,
            Code::kFailedPrecondition);
  EXPECT_EQ((*reader)->mark_read({}).error().code, Code::kFailedPrecondition);
  EXPECT_EQ((*reader)->refresh_due().error().code, Code::kFailedPrecondition);
  EXPECT_EQ((*reader)->edit_story(StoryId{1}, {.read = true}).error().code,
            Code::kFailedPrecondition);
  EXPECT_THAT(*(*reader)->check(), IsEmpty());
}

TEST_F(NewsroomTest, ReadsWhatAWriterLeft) {
  add(server->publish("post", {{kFerry, kNow}}));
  room_.reset();
  const auto reader = Newsroom::open_for_reading(folder());
  ASSERT_TRUE(reader.ok()) << reader.error().message;
  EXPECT_THAT((*reader)->timeline({})->stories, SizeIs(1));
  EXPECT_EQ(Newsroom::open_for_reading(scratch_.path() / "none").error().code, Code::kNotFound);
}

TEST_F(NewsroomTest, SaysWhenItsFileIsDamaged) {
  add(server->publish("post", {{kFerry, kNow}}));
  room_.reset();
  std::ofstream(folder() / "news.db", std::ios::binary) << std::string(5'000, 'x');
  for (const auto& room :
       {Newsroom::open(folder(), clock_, options()), Newsroom::open_for_reading(folder())}) {
    ASSERT_FALSE(room.ok());
    EXPECT_EQ(room.error().code, Code::kDataLoss);
    EXPECT_THAT(room.error().message, HasSubstr("news.db"));
    EXPECT_THAT(room.error().message, HasSubstr("damaged"));
  }
}

}  // namespace
}  // namespace kin::stories
