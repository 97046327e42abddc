// The members of a Newsroom. For newsroom.cc and fetch.cc only.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/file.h"
#include "stories/newsroom.h"
#include "stories/newsroom/timeline.h"
#include "stories/newsroom/writer.h"

namespace kin::stories {

inline constexpr const char* kNewsDatabaseName = "news.db";

// A pool of read-only connections. Thread-safe.
class NewsReaders {
 public:
  explicit NewsReaders(std::filesystem::path path) : path_(std::move(path)) {}

  // work(database, values...) on a connection of its own.
  template <typename Work, typename... Values>
  auto read(const Work& work, const Values&... values)
      -> decltype(work(std::declval<NewsDatabase&>(), values...)) {
    KIN_TRY(std::unique_ptr<NewsDatabase> database, take());
    auto result = work(*database, values...);
    const std::lock_guard lock(mutex_);
    if (free_.size() < kMostKept) free_.push_back(std::move(database));
    return result;
  }

 private:
  static constexpr std::size_t kMostKept = 4;

  Result<std::unique_ptr<NewsDatabase>> take() {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        auto database = std::move(free_.back());
        free_.pop_back();
        return database;
      }
    }
    return NewsDatabase::open(path_, NewsDatabase::Access::kRead);
  }

  std::filesystem::path path_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<NewsDatabase>> free_;
};

struct Newsroom::State {
  State(const std::filesystem::path& folder, Clock* its_clock, NewsOptions chosen)
      : options(std::move(chosen)), clock(its_clock), readers(folder / kNewsDatabaseName) {}

  Time now() const { return std::chrono::floor<std::chrono::seconds>(clock->now()); }
  PollMoment moment() { return {.now = now(), .seed = seed.fetch_add(1)}; }

  // Calls a method of the only writer with `values` and an event, then the listeners. Events keep
  // the order of the writes.
  template <typename Method, typename... Values>
  auto write(const Method& method, const Values&... values)
      -> std::invoke_result_t<Method, NewsWriter&, const Values&..., NewsEvent&> {
    const std::lock_guard lock(writing);
    KIN_RETURN_IF_ERROR(check_writable());
    NewsEvent event;
    auto result = std::invoke(method, *writer, values..., event);
    if (result.ok()) tell(event);
    return result;
  }

  void tell(const NewsEvent& event) {
    if (event.changed.empty() && event.gone.empty() && event.feeds.empty()) return;
    const std::lock_guard lock(listening);
    for (const auto& [number, listener] : listeners) listener(event);
  }

  Status check_writable() const {
    if (client) return Done{};
    return Error{Code::kFailedPrecondition, "these feeds are open for reading only"};
  }

  NewsOptions options;
  Clock* clock;  // null if opened for reading
  std::optional<File> lock_file;
  std::unique_ptr<net::HttpClient> client;  // for polls
  // For addresses that a person waits for: polls or
  // other additions that hang do not delay them.
  std::unique_ptr<net::HttpClient> asking;
  std::atomic<std::uint64_t> seed{0};
  mutable NewsReaders readers;
  std::mutex refreshing;  // taken before `writing`
  std::mutex writing;
  std::unique_ptr<NewsWriter> writer;
  std::mutex listening;
  std::map<std::uint64_t, Listener> listeners;
  std::uint64_t next_listener = 1;

  Result<Poll> find(const NewFeed& feed);
  // A poll for a person who waits.
  Poll poll_now(const Subscription& subscription);
  Result<Refresh> refresh(const std::vector<DueFeed>& due);
  Status fetch_icons(net::HttpClient& from, const std::vector<FeedId>& feeds);
  Result<std::vector<std::pair<FeedId, std::string>>> sites_without_icon(
      const std::vector<FeedId>& feeds);
};

}  // namespace kin::stories
