// One poll of a feed: ask, read, and say when to ask again.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "net/http_client.h"
#include "stories/feed_parser.h"
#include "stories/feeds/page_links.h"
#include "stories/feeds/poll_pace.h"

namespace kin::stories {

// What is remembered of a feed from one poll to the next.
struct Subscription {
  std::string url;
  net::Credentials credentials = {};
  std::string etag = {};
  std::string last_modified = {};
  std::uint64_t content_hash = 0;  // of the items last seen; 0 for none
  PollPace pace = {};
};

struct Poll {
  enum class Outcome {
    kItems,        // `feed` has items that may be new
    kNotModified,  // the server says so, or the items are those of the last poll
    kGone,         // for good (410): do not ask again
    kFailed,       // `error` says why
  };
  Outcome outcome = Outcome::kFailed;
  Feed feed = {};
  Error error{Code::kUnavailable, ""};
  int status = 0;  // of the answer; 0 if there was none
  // The new address, if the feed moved there for good and answers there. `next` has it already.
  std::optional<std::string> moved_to = {};
  // The feeds that a page names which was found in place of a feed.
  std::vector<FeedLink> page_feeds = {};
  Subscription next = {};  // what to remember
  Time next_poll = {};
};

// Where time and chance come from.
struct PollMoment {
  Time now = {};
  std::uint64_t seed = 0;
};

struct FetchOptions {
  PollBounds bounds = {};
  FeedLimits limits = {};
};

// Thread-safe, as its client is.
class FeedFetcher {
 public:
  // `client` must outlive it.
  explicit FeedFetcher(net::HttpClient& client, FetchOptions options = {})
      : client_(client), options_(options) {}

  Poll poll(const Subscription& subscription, PollMoment moment) const;

  // Several at once; `done` is called on this thread with each one's number, as they end.
  using OnPoll = std::function<void(std::size_t, Poll)>;
  void poll_all(std::span<const Subscription> subscriptions, PollMoment moment,
                const OnPoll& done) const;

  // What becomes of an answer, or of the want of one: the part without a network.
  Poll judge(const Subscription& subscription, Result<net::HttpResponse> answer,
             PollMoment moment) const;

 private:
  net::HttpClient& client_;
  FetchOptions options_;
};

// Headers that say which formats we read.
std::vector<net::Header> feed_request_headers();

}  // namespace kin::stories
