// Fills the database of a newsroom without a network, for benchmarks with many items.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "stories/newsroom/writer.h"

namespace kin::stories {

// One thread only. The newsroom must not be open at the same time.
class NewsFiller {
 public:
  // Writes are not synchronised with the disk: a benchmark measures reading.
  static Result<NewsFiller> open(const std::filesystem::path& database) {
    KIN_TRY(auto writer, NewsWriter::open(database, {}));
    KIN_RETURN_IF_ERROR(writer->database().run_script("PRAGMA synchronous = OFF;"));
    return NewsFiller(std::move(writer));
  }

  Result<FeedId> add_feed(const std::string& url, const std::string& title,
                          const std::string& folder, Time now) {
    NewsEvent event;
    return writer_->add_feed({.url = url,
                              .title = title,
                              .feed_title = {},
                              .site = {},
                              .folder = folder,
                              .credentials = {}},
                             now, event);
  }

  // As if a poll of the feed had found these items.
  Status add_items(FeedId feed, const std::string& url, std::vector<FeedItem> items, Time now) {
    Poll poll;
    poll.outcome = Poll::Outcome::kItems;
    poll.next.url = url;
    poll.feed.items = std::move(items);
    NewsEvent event;
    const auto added = writer_->take_poll(feed, poll, now, event);
    if (!added) return added.error();
    return Done{};
  }

 private:
  explicit NewsFiller(std::unique_ptr<NewsWriter> writer) : writer_(std::move(writer)) {}
  std::unique_ptr<NewsWriter> writer_;
};

}  // namespace kin::stories
