#include "stories/newsroom/writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/bytes.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/random.h"
#include "base/testing/source_folder.h"
#include "stories/newsroom/audit.h"
#include "stories/newsroom/grouping.h"
#include "stories/newsroom/schema.h"
#include "stories/newsroom/settings.h"
#include "stories/newsroom/timeline.h"
#include "stories/testing/feed_fixture.h"
#include "stories/testing/theme_model.h"

namespace kin::stories {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr const char* kSyllables[] = {"ba",  "lor", "min", "tek", "sa",  "run", "vol", "pri",
                                      "gan", "dus", "fel", "ko",  "nar", "shi", "wem", "zu"};
constexpr const char* kVerbs[] = {"opens", "votes", "burns", "floods", "closes", "wins"};

std::string one_of(std::span<const char* const> words, Random& random) {
  return words[random.below(words.size())];
}

// A headline about one of many events. Those of one event share its names.
std::string headline(std::uint64_t event, Random& random) {
  Random about(event);
  std::string text = one_of(kVerbs, random);
  for (int word = 0; word < 4; ++word) {
    std::string name =
        one_of(kSyllables, about) + one_of(kSyllables, about) + one_of(kSyllables, about);
    name[0] = static_cast<char>(name[0] - 'a' + 'A');
    if (random.below(4) != 0) text += " " + name;
  }
  return text + " " + one_of(kVerbs, random);
}

class NewsWriterTest : public ::testing::Test {
 protected:
  void SetUp() override { open(); }
  void TearDown() override {
    if (writer_) expect_sound(*writer_);
  }

  fs::path path() const { return scratch_.path() / "news.db"; }
  void open(Settings settings = {}) {
    writer_.reset();
    auto writer = NewsWriter::open(path(), std::move(settings));
    ASSERT_TRUE(writer.ok()) << writer.error().message;
    writer_ = std::move(*writer);
  }
  // The state that a process killed now would leave, opened again.
  std::unique_ptr<NewsWriter> open_as_after_a_crash(Settings settings = {}) {
    const fs::path copy = scratch_.path() / ("copy" + std::to_string(copies_++));
    fs::create_directories(copy);
    for (const char* name : {"news.db", "news.db-wal"}) {
      if (fs::exists(scratch_.path() / name)) fs::copy(scratch_.path() / name, copy / name);
    }
    auto writer = NewsWriter::open(copy / "news.db", std::move(settings));
    EXPECT_TRUE(writer.ok()) << writer.error().message;
    return writer.ok() ? std::move(*writer) : nullptr;
  }
  void expect_sound(NewsWriter& writer) {
    const auto found = audit(writer.database(), writer.grouper());
    ASSERT_TRUE(found.ok()) << found.error().message;
    EXPECT_THAT(*found, IsEmpty());
  }

  FeedId add_feed(const std::string& name) {
    NewsEvent event;
    return writer_
        ->add_feed({.url = "https://" + name + ".example/",
                    .title = name,
                    .feed_title = {},
                    .site = {},
                    .folder = {},
                    .credentials = {}},
                   now_, event)
        .value();
  }
  Poll poll_with(std::vector<FeedItem> items) const {
    Poll poll;
    poll.outcome = Poll::Outcome::kItems;
    poll.feed.items = std::move(items);
    poll.next_poll = now_ + 1h;
    return poll;
  }
  FeedItem item(const std::string& title, std::optional<Time> at = {}) {
    return {.guid = "g" + std::to_string(guids_++),
            .url = {},
            .title = title,
            .summary = {},
            .published = at.value_or(now_),
            .author = {},
            .image = {}};
  }
  std::uint64_t take(FeedId feed, std::vector<FeedItem> items) {
    NewsEvent event;
    const auto added = writer_->take_poll(feed, poll_with(std::move(items)), now_, event);
    EXPECT_TRUE(added.ok()) << added.error().message;
    return added.ok() ? *added : 0;
  }
  void take_random(FeedId feed, std::size_t count) {
    std::vector<FeedItem> items;
    for (std::size_t i = 0; i < count; ++i) {
      now_ += 7min;
      items.push_back(item(headline(random_.below(400), random_)));
    }
    take(feed, std::move(items));
  }
  static std::string picture(NewsWriter& writer) {
    std::string all;
    const auto page =
        read_timeline(writer.database(), {.limit = 200, .most_others = 1'000}).value();
    for (const StoryView& story : page.stories) {
      all += std::to_string(number(story.id)) + (story.read ? "r" : "") + "+" +
             std::to_string(story.news) + "@" + format_date(story.at) + ":" +
             std::to_string(number(story.representative.id));
      for (const ItemView& item : story.others) all += "," + std::to_string(number(item.id));
      all += "\n";
    }
    return all;
  }
  std::vector<StoryView> stories() {
    return read_timeline(writer_->database(), {.limit = 200, .most_others = 1'000}).value().stories;
  }

  TemporaryFolder scratch_ = TemporaryFolder::create().value();
  std::unique_ptr<NewsWriter> writer_;
  Time now_ = kNow;
  Random random_{5};
  int guids_ = 0;
  int copies_ = 0;
};

TEST_F(NewsWriterTest, AReplayGivesTheSameStateAsNoInterruption) {
  const FeedId feeds[] = {add_feed("a"), add_feed("b"), add_feed("c")};
  for (int round = 0; round < 30; ++round) take_random(feeds[round % 3], 40);
  ASSERT_EQ(*replayed_from(writer_->database()), 0) << "no snapshot yet";
  const auto crashed = open_as_after_a_crash();
  EXPECT_TRUE(crashed->grouper()->export_state() == writer_->grouper()->export_state());
  EXPECT_EQ(picture(*crashed), picture(*writer_));
}

TEST_F(NewsWriterTest, ASnapshotAndWhatCameAfterItGiveTheSameStateToo) {
  const FeedId feed = add_feed("a");
  for (int round = 0; round < 45; ++round) take_random(feed, 100);
  const std::uint64_t from = *replayed_from(writer_->database());
  ASSERT_GT(from, 3'000);
  ASSERT_LT(from, 4'500);
  const auto crashed = open_as_after_a_crash();
  EXPECT_TRUE(crashed->grouper()->export_state() == writer_->grouper()->export_state());
  const GrouperState state = writer_->grouper()->export_state();
  open();
  EXPECT_TRUE(writer_->grouper()->export_state() == state);
}

// Every kind of change in a random order, with a crash after each.
TEST_F(NewsWriterTest, NoCrashLosesOrInventsAnything) {
  std::vector<FeedId> feeds{add_feed("a"), add_feed("b")};
  NewsEvent event;
  for (int round = 0; round < 120; ++round) {
    const std::vector<StoryView> shown = stories();
    const auto any = [&]() -> const StoryView& { return shown[random_.below(shown.size())]; };
    switch (shown.size() < 3 ? 0 : random_.below(12)) {
      default: take_random(feeds[random_.below(feeds.size())], 1 + random_.below(25)); break;
      case 1: writer_->edit_story(any().id, {.read = true}, event).value(); break;
      case 2: {
        const StoryView& story = any();
        const ItemId one = story.others.empty() ? story.representative.id : story.others.front().id;
        writer_->separate(one, now_, event).value();
        break;
      }
      case 3: writer_->unite(any().id, any().id, now_, event).value(); break;
      case 4:
        if (random_.below(4) == 0) {
          writer_->remove_feed(feeds.back(), StarredItems::kKeep, event).value();
          feeds.pop_back();
        }
        if (feeds.size() < 2) feeds.push_back(add_feed("n" + std::to_string(round)));
        break;
      case 5:
        take(feeds[0], {});
        writer_->sweep(now_ - 24h, event).value();
        break;
      case 6: now_ += 60h; break;
      case 7: writer_->edit_story(any().id, {.hidden = true}, event).value(); break;
      case 8: writer_->edit_story(any().id, {.starred = true}, event).value(); break;
      case 9: {
        const std::vector<StoryId> two{any().id, any().id};
        const auto marked = writer_->mark_read(two, any().bound, event).value();
        if (random_.below(2) == 0) (void)writer_->undo_mark(marked.undo, event);
        break;
      }
    }
    expect_sound(*writer_);
    const auto crashed = open_as_after_a_crash();
    ASSERT_EQ(picture(*crashed), picture(*writer_)) << "round " << round;
    ASSERT_TRUE(crashed->grouper()->export_state() == writer_->grouper()->export_state())
        << "round " << round;
    if (HasFailure()) break;
  }
}

TEST_F(NewsWriterTest, StoredPlacementsWinOverANewWayOfGrouping) {
  const FeedId feed = add_feed("a");
  for (int round = 0; round < 10; ++round) take_random(feed, 40);
  const std::string before = picture(*writer_);
  const auto other = open_as_after_a_crash({.join_threshold = 0.6, .merge_threshold = 0.7});
  EXPECT_EQ(picture(*other), before);
  expect_sound(*other);
  EXPECT_EQ(other->grouper()->next_story(), writer_->grouper()->next_story());
  EXPECT_GT(other->grouper()->open_stories(), 10);
}

TEST_F(NewsWriterTest, GoesOnWithoutASnapshotThatCanBeRead) {
  const FeedId feed = add_feed("a");
  const FeedId other = add_feed("b");
  for (int round = 0; round < 10; ++round) take_random(feed, 40);
  const std::vector<StoryView> shown = stories();
  const StoryView large = *std::ranges::max_element(shown, {}, &StoryView::count);
  const std::string before = picture(*writer_);
  open();
  ASSERT_TRUE(writer_->database().run("UPDATE grouper_snapshot SET state = x'00'").ok());
  const auto crashed = open_as_after_a_crash();
  EXPECT_EQ(picture(*crashed), before);
  expect_sound(*crashed);
  NewsEvent event;
  ASSERT_TRUE(crashed
                  ->take_poll(other,
                              poll_with({item(large.representative.title, large.last + 1min)}),
                              now_, event)
                  .ok());
  EXPECT_THAT(event.changed, ElementsAre(large.id));
}

TEST_F(NewsWriterTest, ForgetsNoCorrectionWhenItsGrouperIsBuiltAgain) {
  const FeedId feed = add_feed("a");
  take(feed, {item("Ferry Olympia stranded near Chania"),
              item("Passengers of stranded ferry Olympia rescued near Chania")});
  const StoryView both = stories().at(0);
  ASSERT_EQ(both.count, 2);
  NewsEvent event;
  const StoryId own = writer_->separate(both.representative.id, now_, event).value();
  open();
  ASSERT_TRUE(writer_->database().run("UPDATE grouper_snapshot SET state = x'00'").ok());
  const auto crashed = open_as_after_a_crash();
  EXPECT_THAT(crashed->grouper()->export_state().apart,
              ElementsAre(std::pair(std::min(own, both.id), std::max(own, both.id))));
}

// Version 1 of the grouper's state cannot be read any more; its stories continue all the same.
TEST_F(NewsWriterTest, BuildsTheGrouperOfAnOlderVersionFromItsItems) {
  const FeedId feed = add_feed("a");
  for (int round = 0; round < 5; ++round) take_random(feed, 40);
  const std::string before = picture(*writer_);
  open();
  std::string old = "KINSTORY";
  append_le(old, std::uint32_t{1});
  append_le(old, checksum(old));
  ASSERT_TRUE(writer_->database().run("UPDATE grouper_snapshot SET state = ?", Blob{old}).ok());
  const auto updated = open_as_after_a_crash();
  EXPECT_EQ(picture(*updated), before);
  expect_sound(*updated);
  EXPECT_GT(updated->grouper()->open_stories(), 10u);
}

TEST_F(NewsWriterTest, GoesOnWithOtherWordVectors) {
  const FeedId feed = add_feed("a");
  for (int round = 0; round < 5; ++round) take_random(feed, 40);
  const std::string before = picture(*writer_);
  writer_.reset();
  auto other = NewsWriter::open(path(), {}, std::make_shared<ThemeModel>());
  ASSERT_TRUE(other.ok()) << other.error().message;
  EXPECT_EQ(picture(**other), before);
  expect_sound(**other);
  // The counts are kept: a word of many stories is not new.
  EXPECT_GT((*other)->grouper()->export_state().counted_stories, 10);
}

// An item that came after the snapshot was counted by the grouper. Once it is removed, a replay
// cannot count it, even if its story was closed before.
TEST_F(NewsWriterTest, StoresASnapshotWhenAnItemOfAClosedStoryIsRemoved) {
  const FeedId gone = add_feed("gone");
  const FeedId feed = add_feed("stays");
  NewsEvent event;
  take(gone, {item("Glacier ice in Zermatt melts")});
  now_ += 24h * 10;
  take(feed, {item("Ferry Olympia stranded near Chania")});
  ASSERT_EQ(writer_->grouper()->open_stories(), 1u);
  ASSERT_TRUE(writer_->sweep(now_ - 24h, event).ok());
  ASSERT_EQ(stories().size(), 2u);
  Poll nothing = poll_with({});
  ASSERT_TRUE(writer_->take_poll(gone, nothing, now_, event).ok());
  ASSERT_TRUE(writer_->sweep(now_ - 24h, event).ok());
  const auto crashed = open_as_after_a_crash();
  EXPECT_EQ(crashed->grouper()->export_state(), writer_->grouper()->export_state());
}

TEST_F(NewsWriterTest, DoesNothingOfWhatFailed) {
  const FeedId feed = add_feed("a");
  take_random(feed, 30);
  const std::string before = picture(*writer_);
  const GrouperState state = writer_->grouper()->export_state();
  ASSERT_TRUE(writer_->database()
                  .run("CREATE TEMP TRIGGER full BEFORE INSERT ON items WHEN new.id % 10 = 0 "
                       "BEGIN SELECT raise(ABORT, 'no room'); END")
                  .ok());
  NewsEvent event;
  std::vector<FeedItem> items;
  for (int i = 0; i < 20; ++i) items.push_back(item(headline(random_.below(400), random_)));
  const auto failed = writer_->take_poll(feed, poll_with(items), now_, event);
  ASSERT_FALSE(failed.ok());
  EXPECT_THAT(failed.error().message, HasSubstr("no room"));
  EXPECT_EQ(picture(*writer_), before);
  ASSERT_TRUE(writer_->database().run("DROP TRIGGER full").ok());
  ASSERT_TRUE(writer_->edit_feed(feed, {.title = "b"}, event).ok());
  EXPECT_TRUE(writer_->grouper()->export_state() == state);
  EXPECT_EQ(*writer_->take_poll(feed, poll_with(items), now_, event), 20);
}

// A database that version 3 of the tables wrote, with one story of two items that was read, one
// unread and one hidden.
TEST_F(NewsWriterTest, BringsTheTablesOfVersion3UpToDate) {
  writer_.reset();
  for (const char* name : {"news.db", "news.db-wal", "news.db-shm"})
    fs::remove(scratch_.path() / name);
  {
    const auto old = NewsDatabase::open(path(), NewsDatabase::Access::kWrite).value();
    const std::string sql =
        read_file(std::string(source_folder()) + "/tests/feeds/news_version3.sql").value();
    ASSERT_TRUE(old->run_script(sql).ok());
  }
  open();
  EXPECT_EQ(*writer_->database().number("PRAGMA user_version"), news_version());
  const auto read = [&](const TimelineQuery& query) {
    return read_timeline(writer_->database(), query).value().stories;
  };
  ASSERT_EQ(read({}).size(), 2);
  EXPECT_EQ(read({})[0].representative.title,
            "Passengers of stranded ferry Olympia rescued near Chania");
  EXPECT_TRUE(read({})[0].read);
  EXPECT_TRUE(read({})[0].starred);
  EXPECT_EQ(read({})[0].at, read({})[0].last);
  EXPECT_FALSE(read({})[1].read);
  ASSERT_EQ(read({.hidden_only = true}).size(), 1);
  expect_sound(*writer_);
  // News for the story that was read.
  const FeedId feed = read({})[0].representative.feed;
  now_ = read({})[0].last + 1h;
  take(feed, {item("Passengers of stranded ferry Olympia rescued near Chania")});
  EXPECT_EQ(read({})[0].news, 1);
}

TEST_F(NewsWriterTest, KeepsTheSettingsAndTheStoriesMadeByOthers) {
  const FeedId feed = add_feed("a");
  take_random(feed, 60);
  const std::string before = picture(*writer_);
  Settings settings;
  settings.window = std::chrono::hours(30);
  settings.join_threshold = 0.9;
  settings.preferred_sources = {"b", "a"};
  settings.one_per_source = true;
  ASSERT_TRUE(writer_->change_settings(settings).ok());
  EXPECT_EQ(picture(*writer_), before);
  const auto crashed = open_as_after_a_crash();
  EXPECT_EQ(*load_settings(crashed->database(), {}), settings);
  EXPECT_EQ(picture(*crashed), before);
  take_random(feed, 30);
  settings.join_threshold = 2;
  EXPECT_FALSE(writer_->change_settings(settings).ok());
}

TEST_F(NewsWriterTest, RefusesTablesOfAVersionToCome) {
  ASSERT_TRUE(writer_->database().run_script("PRAGMA user_version = 99;").ok());
  writer_.reset();
  const auto writer = NewsWriter::open(path(), {});
  ASSERT_FALSE(writer.ok());
  EXPECT_EQ(writer.error().code, Code::kFailedPrecondition);
  EXPECT_THAT(writer.error().message, HasSubstr("newer kindred"));
}

TEST_F(NewsWriterTest, AnAuditFindsWhatIsWrong) {
  const FeedId feed = add_feed("a");
  take_random(feed, 30);
  const char* const kFaults[] = {
      "UPDATE stories SET count = count + 1 WHERE id = 1",
      "UPDATE stories SET last = last + 1 WHERE id = 1",
      "UPDATE stories SET representative = 10000 WHERE id = 1",
      "UPDATE stories SET read = 1 WHERE id = 1",
      "UPDATE stories SET place = place + 1 WHERE id = 1",
      "DELETE FROM unseen WHERE story = 1",
      "INSERT INTO unseen VALUES (1, 10000)",
      "DELETE FROM lsh_bands WHERE band_index = 3 AND item = (SELECT min(item) FROM lsh_bands)",
      "INSERT INTO lsh_bands VALUES (1, 2, 10000)",
      "UPDATE feeds SET unread = unread + 1",
      "UPDATE feeds SET items = items + 1",
      "DELETE FROM story_feeds WHERE story = 1",
      "UPDATE counters SET value = 1 WHERE name = 'next_story'",
  };
  for (const char* fault : kFaults) {
    const auto broken = open_as_after_a_crash();
    ASSERT_TRUE(broken->database().run(fault).ok()) << fault;
    EXPECT_FALSE(audit(broken->database(), nullptr)->empty()) << fault;
  }
}

}  // namespace
}  // namespace kin::stories
