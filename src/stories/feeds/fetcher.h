// Polls feeds: requests a feed, parses the answer and computes the time of the next poll.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "net/http_client.h"
#include "stories/feed_parser.h"
#include "stories/feeds/poll_pace.h"

namespace kin::stories {

// State of a feed that is kept from one poll to the next.
struct Subscription {
  std::string url;
  net::Credentials credentials = {};
  std::string etag = {};
  std::string last_modified = {};
  std::uint64_t content_hash = 0;  // of the items in the last poll; 0: none yet
  PollPace pace = {};
};

struct Poll {
  enum class Outcome {
    kItems,        // `feed` has items, some may be new
    kNotModified,  // 304, or the items are the same as in the last poll
    kGone,         // 410: do not poll again
    kFailed,       // see `error`
  };
  Outcome outcome = Outcome::kFailed;
  Feed feed = {};
  Error error{Code::kUnavailable, ""};
  int status = 0;  // HTTP status; 0 if there was no answer
  // The new address of a feed that moved permanently and answers there. `next` has it already.
  std::optional<std::string> moved_to = {};
  Subscription next = {};  // to be stored for the next poll
  Time next_poll = {};
};

// Time and randomness of a poll.
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

  // Polls several feeds at the same time. Calls `done` on this thread, with the index of the
  // subscription, as each one ends.
  using OnPoll = std::function<void(std::size_t, Poll)>;
  void poll_all(std::span<const Subscription> subscriptions, PollMoment moment,
                const OnPoll& done) const;

  // Makes a Poll of an answer or an error, without network access.
  Poll judge(const Subscription& subscription, Result<net::HttpResponse> answer,
             PollMoment moment) const;

 private:
  net::HttpClient& client_;
  FetchOptions options_;
};

// The Accept header fields of a request for a feed.
std::vector<net::Header> feed_request_headers();

}  // namespace kin::stories
