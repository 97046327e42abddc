// Fixtures for tests of a newsroom: a server whose feeds tests write, a clock, a folder.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/testing/manual_clock.h"
#include "net/testing/test_server.h"
#include "stories/newsroom.h"
#include "stories/testing/feed_fixture.h"

namespace kin::stories {

struct Published {
  std::string title;
  Time at{};
  std::string summary{};
  std::string guid{};  // the title if there is none
};

// A server of tests/feeds/server.py over a folder of its own, to which feeds are written.
class NewsServer {
 public:
  // `source_folder` is the one of the repository.
  explicit NewsServer(const std::string& source_folder)
      : folder_(TemporaryFolder::create().value()) {
    const auto feeds = folder_.path() / "tests" / "feeds";
    std::filesystem::create_directories(feeds.parent_path());
    std::filesystem::copy(source_folder + "/tests/feeds", feeds);
    server_ = std::make_unique<net::TestServer>(folder_.path().string());
  }

  std::string url(const std::string& path) const { return server_->url(path); }

  // The feed's address. The newest item comes first, as feeds have it.
  std::string publish(const std::string& name, const std::vector<Published>& items) {
    std::string rss =
        "<rss version='2.0'><channel><title>" + name + "</title><link>" + url("/") + "</link>";
    for (auto item = items.rbegin(); item != items.rend(); ++item) {
      const std::string guid = item->guid.empty() ? item->title : item->guid;
      rss += "<item><title>" + item->title + "</title><guid>" + guid + "</guid><description>" +
             item->summary + "</description><pubDate>" + format_date(item->at) +
             "</pubDate><link>https://" + name + ".example/" +
             std::to_string(std::hash<std::string>()(guid)) + "</link></item>";
    }
    return publish_text(name, rss + "</channel></rss>");
  }
  // The same, of a whole document.
  std::string publish_text(const std::string& name, const std::string& document) {
    const auto path = folder_.path() / "tests" / "feeds" / (name + ".xml");
    std::ofstream(path, std::ios::binary) << document;
    return url("/file/" + name + ".xml");
  }
  void withdraw(const std::string& name) {
    std::filesystem::remove(folder_.path() / "tests" / "feeds" / (name + ".xml"));
  }

 private:
  TemporaryFolder folder_;
  std::unique_ptr<net::TestServer> server_;
};

class NewsroomTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite();
  static void TearDownTestSuite() {
    delete server;
    server = nullptr;
  }
  void SetUp() override { reopen(); }
  void TearDown() override {
    if (room_ != nullptr) expect_sound();
  }

  NewsOptions options() {
    NewsOptions options;
    options.http.user_agent = "KindredTest/1";
    options.http.addresses.allowed = {net::Network::parse("127.0.0.1").value()};
    const std::chrono::minutes patience(1);
    options.http.budgets = {.connect = patience, .total = patience, .slowest_for = patience};
    return options;
  }
  // Opens the newsroom again, as after an end of the process.
  void reopen() {
    room_.reset();
    auto room = Newsroom::open(folder(), clock_, options());
    ASSERT_TRUE(room.ok()) << room.error().message;
    room_ = std::move(*room);
  }
  Time now() const { return std::chrono::floor<std::chrono::seconds>(clock_.now()); }
  std::filesystem::path folder() const { return scratch_.path() / "news"; }

  FeedId add(const std::string& url, const std::string& in = {}) {
    const auto feed = room_->add_feed({.url = url, .folder = in});
    EXPECT_TRUE(feed.ok()) << feed.error().message;
    return feed.ok() ? feed->id : FeedId{};
  }
  Newsroom::Refresh refresh_all() {
    clock_.advance(std::chrono::hours(25));
    const auto done = room_->refresh_due();
    EXPECT_TRUE(done.ok()) << done.error().message;
    return done.ok() ? *done : Newsroom::Refresh{};
  }
  TimelinePage timeline(const TimelineQuery& query = {}) {
    auto page = room_->timeline(query);
    EXPECT_TRUE(page.ok()) << page.error().message;
    return page.ok() ? std::move(*page) : TimelinePage{};
  }
  std::vector<std::string> titles(const TimelineQuery& query = {}) {
    std::vector<std::string> found;
    for (const StoryView& story : timeline(query).stories)
      found.push_back(story.representative.title);
    return found;
  }
  // The story that an item of this title is in.
  StoryView story_with(const std::string& title) {
    for (const StoryView& story : timeline({.limit = 200}).stories) {
      if (story.representative.title == title) return story;
      for (const ItemView& item : story.others)
        if (item.title == title) return story;
    }
    ADD_FAILURE() << "no story has " << title;
    return {};
  }
  void expect_sound() {
    const auto found = room_->check();
    ASSERT_TRUE(found.ok()) << found.error().message;
    for (const std::string& problem : *found) ADD_FAILURE() << problem;
  }

  static NewsServer* server;
  ManualClock clock_{kNow};
  TemporaryFolder scratch_ = TemporaryFolder::create().value();
  std::unique_ptr<Newsroom> room_;
};

inline NewsServer* NewsroomTest::server = nullptr;

}  // namespace kin::stories
