#include "stories/grouper.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>

#include "base/random.h"
#include "stories/group_all.h"
#include "stories/testing/theme_model.h"

namespace kin::stories {
namespace {

constexpr UnixSeconds kHour = 3600;

// Adds titles one minute apart unless told otherwise.
class GrouperTest : public ::testing::Test {
 protected:
  explicit GrouperTest(Settings settings = {}) : grouper_(std::move(settings)) {}

  Placement add(Item item) {
    item.id = ItemId{next_++};
    if (item.published_at == 0) item.published_at = time_ += 60;
    time_ = std::max(time_, item.published_at);
    last_ = item.id;
    return grouper_.add(item);
  }
  Placement add_title(std::string title) { return add(Item{.title = std::move(title)}); }
  StoryId story_of(ItemId item) const { return grouper_.find(item)->story; }

  Grouper grouper_;
  UnixSeconds time_ = 1'700'000'000;
  std::uint64_t next_ = 1;
  ItemId last_{};
};

TEST_F(GrouperTest, PutsHeadlinesAboutOneEventTogether) {
  const StoryId flood = add_title("River Aare floods old town of Bern after night of rain").story;
  const StoryId vote = add_title("Parliament votes down pension reform in Oslo").story;
  EXPECT_NE(flood, vote);
  EXPECT_EQ(add_title("Old town of Bern under water as Aare rises").story, flood);
  EXPECT_EQ(add_title("Norway's pension reform fails in parliament vote").story, vote);
  EXPECT_NE(add_title("Chess champion loses final game in Lima").story, flood);
}

TEST_F(GrouperTest, GroupsTheFourM4HeadlinesAndNoOthers) {
  std::set<StoryId> stories;
  stories.insert(add_title("Apple announces M4 chips for Mac").story);
  const StoryId tablet = add_title("Apple announces M4 iPad Pro").story;
  stories.insert(add_title("Apple reveals M4 Mac Mini").story);
  const StoryId buds = add_title("Apple unveils AirPods with longer battery life").story;
  stories.insert(add_title("New Mac Mini with M4 chip").story);
  const StoryId rival = add_title("Intel shows laptop chips for next year").story;
  stories.insert(add_title("Apple's M4 Mac Mini announced").story);
  const StoryId other = add_title("Samsung reveals Galaxy Book with faster chip").story;
  EXPECT_EQ(stories.size(), 1u);
  for (const StoryId story : {tablet, buds, rival, other}) EXPECT_FALSE(stories.contains(story));
}

// Made from one template, a minute apart.
TEST(Grouper, KeepsSingleHeadlinesApartThatNameOthersAtTheSamePlace) {
  constexpr std::array<std::array<const char*, 2>, 7> kPairs{{
      {"Central bank of Sweden cuts rates by quarter point",
       "Central bank of Norway cuts rates by quarter point"},
      {"President Biden meets Xi in California for talks",
       "President Biden meets Putin in Geneva for talks"},
      {"Protests in Nigeria over fuel prices turn deadly",
       "Protests in Kenya over tax bill turn deadly"},
      {"Ferry sinks off Indonesia, dozens missing", "Ferry sinks off Bangladesh, dozens missing"},
      {"Wildfire near Athens forces hundreds to flee",
       "Wildfire near Lisbon forces hundreds to flee"},
      {"Netflix reports quarterly results below expectations",
       "Nvidia reports quarterly results below expectations"},
      {"Explosion at chemical plant in Texas injures ten",
       "Explosion at chemical plant in Ohio injures ten"},
  }};
  for (const auto& pair : kPairs) {
    Grouper grouper;
    const StoryId first =
        grouper.add({.id = ItemId{1}, .title = pair[0], .published_at = 60}).story;
    EXPECT_NE(grouper.add({.id = ItemId{2}, .title = pair[1], .published_at = 120}).story, first)
        << pair[1];
  }
}

// The first word of a title begins with a capital in any case, and who does it to whom matters.
TEST(Grouper, KeepsHeadlinesOfOneFrameApart) {
  constexpr std::array<std::array<const char*, 2>, 5> kPairs{{
      {"Turkey raises interest rates to 24 percent",
       "Argentina raises interest rates to 60 percent"},
      {"Microsoft to cut thousands of jobs", "Cisco to cut thousands of jobs"},
      {"Israel launches strikes on Hezbollah", "Hezbollah launches strikes on Israel"},
      {"Arsenal beat Chelsea after extra time", "Chelsea beat Arsenal after extra time"},
      {"South Africa elects new prime minister", "Sweden elects new prime minister"},
  }};
  for (const auto& pair : kPairs) {
    Grouper grouper;
    const auto add = [&](std::uint64_t id, const char* title, const char* source) {
      return grouper
          .add({.id = ItemId{id},
                .title = title,
                .published_at = static_cast<UnixSeconds>(60 * id),
                .source = source})
          .story;
    };
    const StoryId first = add(1, pair[0], "Harbour Post");
    EXPECT_EQ(add(2, pair[0], "Island Times"), first);
    EXPECT_NE(add(3, pair[1], "Coast Daily"), first) << pair[1];
  }
}

TEST_F(GrouperTest, TakesAFrameWithPartOfANameForTheSame) {
  const StoryId story = add_title("Apple chief Tim Cook opens harbour museum in Lisbon").story;
  EXPECT_EQ(add_title("Apple chief Cook opens harbour museum in Lisbon").story, story);
}

TEST_F(GrouperTest, KnowsTheSamePageByAddressGuidAndTitle) {
  const StoryId story = add({.title = "Ferry runs aground off Crete",
                             .source = "Harbour Post",
                             .url = "https://www.example.com/ferry?utm_source=rss",
                             .guid = "f-1"})
                            .story;
  const Placement address =
      add({.title = "Passengers safe", .url = "http://example.com/ferry/amp/"});
  EXPECT_EQ(address.story, story);
  EXPECT_EQ(address.tier, Tier::kIdentity);
  EXPECT_EQ(add({.title = "Corrected", .source = "Harbour Post", .guid = "f-1"}).story, story);
  EXPECT_NE(add({.title = "Weather", .source = "Other Post", .guid = "f-1"}).story, story);
  const Placement title =
      add({.title = "Ferry runs aground off Crete - Island Times", .source = "Island Times"});
  EXPECT_EQ(title.story, story);
  EXPECT_EQ(title.tier, Tier::kIdentity);
}

TEST_F(GrouperTest, DoesNotTakeTheFrontPageForOnePage) {
  const StoryId first = add({.title = "Glacier shrinks", .url = "https://example.com/"}).story;
  EXPECT_NE(add({.title = "Baker wins prize", .url = "https://example.com"}).story, first);
}

TEST_F(GrouperTest, KnowsRepublishedTextUnderAnotherTitle) {
  const std::string text =
      "Firefighters brought the guests of three hotels to safety in boats after the river rose by "
      "two "
      "metres during the night, the mayor said on Tuesday";
  const StoryId story = add({.title = "Guests rescued by boat", .summary = text}).story;
  const Placement copy = add({.title = "Hotels cut off", .summary = text});
  EXPECT_EQ(copy.story, story);
  EXPECT_EQ(copy.tier, Tier::kRepublished);
  EXPECT_TRUE(grouper_.sketch(last_));
}

TEST_F(GrouperTest, ReadsSummariesWhereTitlesDiffer) {
  const StoryId story =
      add({.title = "Night of the boats",
           .summary = "In Passau the Danube flooded the quays and the cathedral square"})
          .story;
  EXPECT_EQ(add({.title = "Shops closed for days",
                 .summary = "Passau cleans up: the Danube left mud on quays and cathedral steps"})
                .story,
            story);
}

TEST_F(GrouperTest, KeepsNumberedThingsApart) {
  const StoryId first =
      add_title("Council agrees on 12th sanctions package against Ruritania").story;
  EXPECT_NE(add_title("Council agrees on 13th sanctions package against Ruritania").story, first);
  const StoryId quake = add_title("Magnitude 5.1 earthquake shakes coast of Chile").story;
  EXPECT_NE(add_title("Magnitude 6.2 earthquake shakes coast of Chile").story, quake);
  EXPECT_EQ(add_title("Coast of Chile shaken by 5.1 magnitude earthquake").story, quake);
}

TEST_F(GrouperTest, KeepsStoriesAboutSisterModelsApartHoweverLargeTheyGrow) {
  const StoryId first = add_title("Maker recalls QX1 drill over overheating battery").story;
  const StoryId second = add_title("Maker recalls QX2 drill over overheating battery").story;
  for (int i = 0; i < 12; ++i) {
    add_title("QX1 drill recalled: battery overheating");
    add_title("QX2 drill recalled: battery overheating");
  }
  EXPECT_NE(grouper_.resolve(first), grouper_.resolve(second));
  EXPECT_EQ(grouper_.open_stories(), 2u);
}

TEST_F(GrouperTest, LetsCountsChangeWithinAStory) {
  const StoryId story = add_title("Nine dead in Zagreb tram fire").story;
  EXPECT_EQ(add_title("Zagreb tram fire: 12 dead").story, story);
  EXPECT_EQ(add_title("Zagreb tram fire leaves 15 dead").story, story);
}

TEST_F(GrouperTest, DoesNotTakeAHabitForAStory) {
  const Item briefing{.title = "Morning briefing: what to know on Monday", .source = "Daily"};
  Item next = briefing;
  const StoryId story = add(briefing).story;
  next.title = "Morning briefing: what to know on Tuesday";
  next.published_at = time_ + 24 * kHour;
  EXPECT_NE(add(next).story, story);
}

TEST_F(GrouperTest, LeavesUngroupedFeedsAlone) {
  const Placement alone = add({.title = "Storm Egon hits Brest harbour", .grouped = false});
  EXPECT_EQ(alone.tier, Tier::kUngrouped);
  EXPECT_TRUE(alone.is_representative);
  const StoryId story = add_title("Storm Egon hits Brest harbour").story;
  EXPECT_NE(story, alone.story);
  EXPECT_FALSE(grouper_.unite(story, alone.story).ok());
}

TEST_F(GrouperTest, ClosesStoriesAfterTheWindow) {
  const StoryId story = add_title("Volcano Teide erupts on Tenerife").story;
  const ItemId item = last_;
  time_ += 100 * kHour;
  EXPECT_NE(add_title("Volcano Teide erupts on Tenerife").story, story);
  EXPECT_EQ(grouper_.story(story), nullptr);
  EXPECT_FALSE(grouper_.find(item));
  EXPECT_FALSE(grouper_.separate(item).ok());
  const auto changes = grouper_.take_changes();
  EXPECT_EQ(changes.back().kind, Change::Kind::kClosed);
  EXPECT_EQ(changes.back().story, story);
}

TEST_F(GrouperTest, TakesLateItemsIntoTheStoryOfTheirTime) {
  const StoryId story = add_title("Volcano Teide erupts on Tenerife").story;
  const UnixSeconds then = time_;
  time_ += 20 * kHour;
  add_title("Tram drivers strike in Lisbon");
  EXPECT_EQ(
      add({.title = "Teide volcano erupts, Tenerife airport closed", .published_at = then + 30})
          .story,
      story);
}

TEST_F(GrouperTest, KeepsAnItemThatIsAddedTwiceWhereItIs) {
  const Item item{.id = ItemId{99}, .title = "Tram drivers strike in Lisbon", .published_at = 5};
  const Placement once = grouper_.add(item);
  EXPECT_EQ(grouper_.add(item).story, once.story);
  EXPECT_EQ(grouper_.story(once.story)->size(), 1u);
}

class PreferringGrouperTest : public GrouperTest {
 protected:
  PreferringGrouperTest() : GrouperTest({.preferred_sources = {"Harbour Post", "Island Times"}}) {}
};

TEST_F(PreferringGrouperTest, LetsThePreferredSourceRepresentAStory) {
  const Placement first = add({.title = "Ferry runs aground off Crete", .source = "Blog"});
  EXPECT_TRUE(first.is_representative);
  const Placement better = add({.title = "Crete: ferry aground", .source = "Island Times"});
  EXPECT_EQ(better.story, first.story);
  EXPECT_TRUE(better.is_representative);
  EXPECT_FALSE(
      add({.title = "Ferry aground off Crete coast", .source = "Other"}).is_representative);
  EXPECT_TRUE(
      add({.title = "Aground: ferry off Crete", .source = "Harbour Post"}).is_representative);
  EXPECT_EQ(grouper_.take_changes().size(), 2u);
}

class OnePerSourceTest : public GrouperTest {
 protected:
  OnePerSourceTest() : GrouperTest({.one_per_source = true}) {}
};

TEST_F(OnePerSourceTest, OpensAStoryForASecondItemOfASource) {
  const StoryId story = add({.title = "Ferry runs aground off Crete", .source = "Post"}).story;
  EXPECT_NE(add({.title = "Crete: ferry still aground", .source = "Post"}).story, story);
  EXPECT_EQ(add({.title = "Ferry runs aground off Crete coast", .source = "Times"}).story, story);
}

// Two stories that a third headline joins, and the id under which both live on.
TEST_F(GrouperTest, MergesStoriesThatTurnOutToBeOne) {
  const StoryId older = add_title("Ferry Olympia stranded near Chania").story;
  const ItemId first = last_;
  const StoryId newer = add_title("Hundreds of passengers rescued from ship off Crete").story;
  const ItemId second = last_;
  ASSERT_NE(older, newer);
  for (const char* title :
       {"Ferry Olympia: passengers rescued from ship near Chania, Crete",
        "Passengers rescued from stranded ferry Olympia off Crete",
        "Stranded off Crete: hundreds of passengers of ferry Olympia rescued near Chania"})
    add_title(title);
  EXPECT_EQ(story_of(first), older);
  EXPECT_EQ(story_of(second), older);
  EXPECT_EQ(grouper_.resolve(newer), older);
  EXPECT_EQ(grouper_.story(newer), grouper_.story(older));
  EXPECT_TRUE(grouper_.find(first)->is_representative);
  EXPECT_FALSE(grouper_.find(second)->is_representative);
}

TEST_F(GrouperTest, NeverChainsStoriesThroughSingleItems) {
  const StoryId a = add_title("Glacier ice in Zermatt melts").story;
  add_title("Zermatt railway opens");
  add_title("Railway to Brienz closed");
  add_title("Brienz evacuated before rockfall");
  EXPECT_NE(add_title("Rockfall in Norway blocks fjord").story, a);
  EXPECT_GE(grouper_.open_stories(), 3u);
}

TEST_F(GrouperTest, ObeysWhenTheUserSaysNotThisStory) {
  const StoryId story = add_title("Ferry Olympia stranded near Chania").story;
  const Placement joined = add_title("Ferry Olympia stranded near Chania harbour");
  ASSERT_EQ(joined.story, story);
  const ItemId item = last_;
  const auto own = grouper_.separate(item);
  ASSERT_TRUE(own.ok());
  EXPECT_NE(*own, story);
  EXPECT_EQ(story_of(item), *own);
  EXPECT_TRUE(grouper_.find(item)->is_representative);
  EXPECT_EQ(grouper_.find(item)->tier, Tier::kCorrected);
  for (int i = 0; i < 6; ++i) add_title("Ferry Olympia stranded near Chania, captain arrested");
  EXPECT_NE(grouper_.resolve(story), grouper_.resolve(*own));
}

TEST_F(GrouperTest, GivesAStoryAnotherRepresentativeWhenItsOwnLeaves) {
  const StoryId story = add_title("Ferry Olympia stranded near Chania").story;
  const ItemId first = last_;
  add_title("Ferry Olympia stranded near Chania harbour");
  const ItemId second = last_;
  ASSERT_TRUE(grouper_.separate(first).ok());
  EXPECT_EQ(grouper_.story(story)->representative, second);
}

TEST_F(GrouperTest, ObeysWhenTheUserSaysSameStory) {
  const StoryId a = add_title("Glacier ice in Zermatt melts").story;
  const StoryId b = add_title("Tram drivers strike in Lisbon").story;
  ASSERT_NE(a, b);
  EXPECT_EQ(*grouper_.unite(b, a), a);
  EXPECT_EQ(story_of(last_), a);
  EXPECT_EQ(grouper_.resolve(b), a);
  EXPECT_EQ(add_title("Lisbon tram drivers go on with strike").story, a);
  EXPECT_FALSE(grouper_.unite(a, StoryId{12345}).ok());
}

TEST_F(GrouperTest, LetsTheUserTakeACorrectionBack) {
  const StoryId story = add_title("Ferry Olympia stranded near Chania").story;
  add_title("Ferry Olympia stranded near Chania harbour");
  const StoryId own = *grouper_.separate(last_);
  EXPECT_EQ(*grouper_.unite(own, story), story);
  EXPECT_EQ(story_of(last_), story);
}

TEST_F(GrouperTest, KeepsWhatTheUserUnitedTogether) {
  const StoryId ferry = add_title("Ferry Olympia stranded near Chania").story;
  const StoryId tram = add_title("Tram drivers strike in Lisbon").story;
  ASSERT_TRUE(grouper_.unite(ferry, tram).ok());
  for (int i = 0; i < 8; ++i) {
    add_title("Ferry Olympia stranded near Chania, day " + std::to_string(i));
    add_title("Lisbon tram drivers strike, day " + std::to_string(i));
  }
  EXPECT_NE(grouper_.story(ferry), nullptr);
  EXPECT_EQ(grouper_.resolve(tram), ferry);
}

TEST_F(GrouperTest, KeepsVulnerabilitiesAndScoresApart) {
  const StoryId first = add_title("Patch for CVE-2026-1234 in Acme router firmware released").story;
  EXPECT_NE(add_title("Patch for CVE-2026-9876 in Acme router firmware released").story, first);
  EXPECT_EQ(add_title("Acme router firmware: CVE-2026-1234 exploited, patch released").story,
            first);
}

TEST_F(GrouperTest, OpensAStoryForEachReturnOfAColumn) {
  const StoryId first = add({.title = "Quote of the day", .source = "Daily"}).story;
  time_ += 24 * kHour;
  const Placement second = add({.title = "Quote of the day", .source = "Other"});
  EXPECT_NE(second.story, first);
  time_ += 24 * kHour;
  EXPECT_NE(add({.title = "Quote of the day", .source = "Daily"}).story, second.story);
}

// Headlines join no story, so that only merging unites them.
class PauseTest : public GrouperTest {
 protected:
  PauseTest() : GrouperTest({.join_threshold = 1}) {}

  // How many stories there are after one with an item each hour and, `pause` later, a headline that
  // is alike.
  std::size_t stories_after(UnixSeconds pause) {
    for (int i = 0; i < 4; ++i) {
      time_ += kHour;
      add_title("Ferry Olympia stranded near Chania");
    }
    time_ += pause;
    add_title("Passengers of ferry Olympia rescued near Chania");
    return grouper_.open_stories();
  }
};

TEST_F(PauseTest, MergesStoriesThatGoOnTogether) {
  EXPECT_EQ(stories_after(3 * kHour), 1u);
}
TEST_F(PauseTest, DoesNotMergeAStoryThatIsOver) {
  EXPECT_EQ(stories_after(6 * kHour), 2u);
}

class TightGrouperTest : public GrouperTest {
 protected:
  TightGrouperTest() : GrouperTest({.dial = 0}) {}
};
class LooseGrouperTest : public GrouperTest {
 protected:
  LooseGrouperTest() : GrouperTest({.dial = 1}) {}
};
constexpr const char* kFerry = "Ferry Olympia stranded on rocks near Chania with 300 passengers";
constexpr const char* kCoastGuard =
    "Coast guard sends three boats and a helicopter to Olympia at night";

TEST_F(TightGrouperTest, KeepsLooselyRelatedHeadlinesApart) {
  EXPECT_NE(add_title(kFerry).story, add_title(kCoastGuard).story);
}

TEST_F(LooseGrouperTest, PutsLooselyRelatedHeadlinesTogether) {
  const StoryId story = add_title(kFerry).story;
  EXPECT_EQ(grouper_.resolve(add_title(kCoastGuard).story), story);
}

TEST(Grouper, UsesWhatHeadlinesMeanBesideTheirWords) {
  // The second letter of words with an x is their theme; see ThemeModel.
  const auto same_story = [](const Grouper::Model& model) {
    Grouper grouper({}, model);
    std::uint64_t id = 0;
    const auto add = [&](const std::string& title) {
      ++id;
      return grouper
          .add(
              {.id = ItemId{id}, .title = title, .published_at = static_cast<UnixSeconds>(id * 60)})
          .story;
    };
    for (const char* title :
         {"Big xbbread xboven wins prize", "Old xcglacier xcice melts", "New xdvote xdlaw passes"})
      add(title);
    const StoryId first =
        add("Big xestorm and xewind over beach of Chania breaks windows of hotels in Souda and "
            "sinks boats at Maleme pier");
    const StoryId second =
        add("Chania without power today as xegale xetempest takes trees down in Kissamos streets "
            "while schools of Platanias close");
    return grouper.resolve(second) == grouper.resolve(first);
  };
  EXPECT_FALSE(same_story(nullptr));
  EXPECT_TRUE(same_story(std::make_shared<ThemeModel>()));
}

std::vector<Item> made_up(std::size_t count, std::uint64_t seed) {
  constexpr std::array kPlaces{"Bern", "Oslo", "Lima", "Crete", "Zagreb", "Lisbon", "Chania"};
  constexpr std::array kThings{"ferry", "tram", "glacier", "parliament", "volcano", "bakery"};
  constexpr std::array kDeeds{"closed", "rescued", "flooded", "on strike", "wins prize", "opens"};
  constexpr std::array kEnds{"after storm", "again", "says mayor", "on Monday", "for good", ""};
  Random random(seed);
  std::vector<Item> items;
  for (std::size_t i = 0; i < count; ++i) {
    const auto pick = [&](const auto& words) {
      return std::string(words[random.below(words.size())]);
    };
    Item item{
        .id = ItemId{i},
        .title = pick(kPlaces) + " " + pick(kThings) + " " + pick(kDeeds) + " " + pick(kEnds),
        .published_at = static_cast<UnixSeconds>(1'700'000'000 + i * 900 + random.below(3600)),
        .source = pick(kPlaces) + " Post"};
    if (random.below(3) == 0)
      item.summary = item.title + " and " + pick(kThings) + " too, in short";
    items.push_back(std::move(item));
  }
  return items;
}

TEST(Grouper, GivesTheSameStoriesEveryTime) {
  const auto items = made_up(600, 3);
  Grouper a;
  Grouper b;
  for (const Item& item : items) {
    EXPECT_EQ(a.add(item).story, b.add(item).story);
  }
  EXPECT_EQ(a.export_state(), b.export_state());
  EXPECT_EQ(a.take_changes(), b.take_changes());
}

TEST(Grouper, GoesOnFromARestoredStateAsIfNothingHadHappened) {
  const auto items = made_up(800, 4);
  Grouper whole;
  Grouper first;
  for (std::size_t i = 0; i < 400; ++i) {
    whole.add(items[i]);
    first.add(items[i]);
  }
  ASSERT_TRUE(whole.separate(items[399].id).ok());
  ASSERT_TRUE(first.separate(items[399].id).ok());
  auto restored = Grouper::restore({}, first.export_state());
  ASSERT_TRUE(restored.ok()) << restored.error().message;
  EXPECT_EQ(restored->export_state(), whole.export_state());
  for (std::size_t i = 400; i < items.size(); ++i)
    EXPECT_EQ(restored->add(items[i]).story, whole.add(items[i]).story) << i;
  EXPECT_EQ(restored->export_state(), whole.export_state());
}

TEST(Grouper, RestoresAStateOnlyWithTheModelItWasMadeWith) {
  Grouper grouper({}, std::make_shared<ThemeModel>());
  for (const Item& item : made_up(50, 8)) grouper.add(item);
  const GrouperState state = grouper.export_state();
  const auto restored = Grouper::restore({}, state, std::make_shared<ThemeModel>());
  ASSERT_TRUE(restored.ok()) << restored.error().message;
  EXPECT_EQ(restored->export_state(), state);
  const auto other = Grouper::restore({}, state);
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code, Code::kFailedPrecondition);
}

TEST(Grouper, RefusesAStateThatContradictsItself) {
  Grouper grouper;
  for (const Item& item : made_up(20, 5)) grouper.add(item);
  const GrouperState good = grouper.export_state();
  GrouperState bad = good;
  bad.stories.push_back(bad.stories.front());
  EXPECT_FALSE(Grouper::restore({}, bad).ok());
  bad = good;
  bad.stories.front().story.members.clear();
  EXPECT_FALSE(Grouper::restore({}, bad).ok());
  bad = good;
  bad.terms.clear();
  EXPECT_FALSE(Grouper::restore({}, bad).ok());
  bad = good;
  bad.next_story = 1;
  EXPECT_FALSE(Grouper::restore({}, bad).ok());
  EXPECT_FALSE(Grouper::restore({.join_threshold = 2}, good).ok());
}

TEST_F(GrouperTest, ForgetsAnItemAndClosesAStoryWithoutAny) {
  const StoryId flood = add_title("River Aare floods old town of Bern after night of rain").story;
  const ItemId first = last_;
  add_title("Old town of Bern under water as Aare rises");
  const ItemId second = last_;
  grouper_.take_changes();
  EXPECT_TRUE(grouper_.forget(first));
  EXPECT_FALSE(grouper_.forget(first));
  ASSERT_NE(grouper_.story(flood), nullptr);
  EXPECT_EQ(grouper_.story(flood)->representative, second);
  EXPECT_EQ(grouper_.take_changes(),
            (std::vector<Change>{{Change::Kind::kRepresentative, flood, kNoStory, second}}));
  EXPECT_EQ(add_title("Old town of Bern still under water, Aare falls").story, flood);
  EXPECT_TRUE(grouper_.forget(second));
  EXPECT_TRUE(grouper_.forget(last_));
  EXPECT_EQ(grouper_.story(flood), nullptr);
  EXPECT_EQ(grouper_.open_items(), 0u);
  EXPECT_TRUE(Grouper::restore({}, grouper_.export_state()).ok());
}

TEST(Grouper, AdoptsItemsWhereTheyWereAndGoesOnFromThere) {
  const auto items = made_up(400, 3);
  Grouper grouper;
  for (const Item& item : items) grouper.add(item);
  Grouper built;
  for (const Item& item : items) {
    const auto place = grouper.find(item.id);
    if (!place) continue;
    built.adopt(item, {.story = place->story,
                       .tier = place->tier,
                       .similarity = place->similarity,
                       .is_representative = place->is_representative});
  }
  EXPECT_EQ(built.open_story_ids(), grouper.open_story_ids());
  EXPECT_GE(built.next_story(), number(grouper.open_story_ids().back()) + 1);
  for (const Item& item : items) {
    const auto place = grouper.find(item.id);
    const auto adopted = built.find(item.id);
    ASSERT_EQ(place.has_value(), adopted.has_value());
    if (!place) continue;
    EXPECT_EQ(place->story, adopted->story);
    EXPECT_EQ(place->is_representative, adopted->is_representative);
  }
  Item again = items.back();
  again.id = ItemId{10'000};
  again.source = "another paper";
  EXPECT_EQ(built.add(again).story, grouper.find(items.back().id)->story);
  EXPECT_TRUE(Grouper::restore({}, built.export_state()).ok());
}

TEST(GroupAll, GivesTheOrderOfTheListAndOneRepresentativeAStory) {
  auto items = made_up(300, 6);
  std::ranges::reverse(items);
  const auto placements = group_all(items, {});
  ASSERT_TRUE(placements.ok());
  ASSERT_EQ(placements->size(), items.size());
  std::map<StoryId, int> representatives;
  for (const Placement& placement : *placements)
    representatives[placement.story] += placement.is_representative ? 1 : 0;
  for (const auto& [story, count] : representatives) EXPECT_EQ(count, 1) << number(story);
}

TEST(GroupAll, RefusesTwoItemsWithOneId) {
  EXPECT_FALSE(group_all(std::vector<Item>{{.title = "a"}, {.title = "b"}}, {}).ok());
}

}  // namespace
}  // namespace kin::stories
