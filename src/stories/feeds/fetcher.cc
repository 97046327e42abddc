#include "stories/feeds/fetcher.h"

#include <fmt/format.h>

#include <charconv>

#include "base/hash.h"
#include "net/url.h"

namespace kin::stories {
namespace {

using std::chrono::seconds;

net::HttpRequest request_for(const Subscription& subscription) {
  net::HttpRequest request{.url = subscription.url,
                           .headers = feed_request_headers(),
                           .credentials = subscription.credentials};
  // Lets the server answer 304 without a body if nothing changed.
  if (!subscription.etag.empty()) request.headers.push_back({"If-None-Match", subscription.etag});
  if (!subscription.last_modified.empty())
    request.headers.push_back({"If-Modified-Since", subscription.last_modified});
  return request;
}

// A hash of the visible part of a feed. Never 0.
std::uint64_t hash_of(const Feed& feed) {
  std::uint64_t hash = hash64(feed.title);
  for (const FeedItem& item : feed.items) {
    for (const std::string* field : {&item.guid, &item.url, &item.title, &item.summary})
      hash = hash64(*field, hash);
  }
  // 0 stands for a feed that was never polled.
  return hash == 0 ? 1 : hash;
}

std::optional<seconds> retry_after(std::string_view value, Time now) {
  std::int64_t number = 0;
  const auto [at, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  constexpr std::int64_t kLongest = std::int64_t{1} << 31;
  // All digits: seconds. A number beyond the range counts as the longest wait.
  if (at == value.data() + value.size() && !value.empty())
    return seconds(error == std::errc() ? std::clamp<std::int64_t>(number, 0, kLongest) : kLongest);
  const auto date = parse_date(value);
  return date ? std::optional(std::max(*date - now, seconds(0))) : std::nullopt;
}

// The ETag or date to send back. Very long ones are ignored.
std::string kept(std::string_view validator) {
  // They are sent with every request.
  constexpr std::size_t kLongest = 1'000;
  return validator.size() <= kLongest ? std::string(validator) : std::string();
}

std::string words_for(int status) {
  switch (status) {
    case 401: return "the server asks for a user name and password (401)";
    case 403: return "the server denies access (403)";
    case 404: return "there is no feed at this address any more (404)";
    case 429: return "the server says that we poll too often (429)";
    default: break;
  }
  if (status >= 500) return fmt::format("the server has an internal error ({})", status);
  return fmt::format("the server answered with status {}", status);
}

void remember_place(const net::HttpResponse& response, Poll& poll) {
  // Only permanent redirects are remembered; the HTTP client follows the others each time.
  if (!response.moved_to || *response.moved_to == poll.next.url) return;
  const auto from = net::Url::parse(poll.next.url);
  const auto to = net::Url::parse(*response.moved_to);
  if (!from.ok() || !to.ok()) return;
  poll.moved_to = poll.next.url = *response.moved_to;
  // The new address was fetched without credentials, so it does not need them.
  if (from->origin() != to->origin()) poll.next.credentials = {};
}

void fail(Poll& poll, Error error) {
  poll.outcome = Poll::Outcome::kFailed;
  poll.error = with_context(poll.next.url, std::move(error));
}

void read_feed(const net::HttpResponse& response, const FeedLimits& limits, Time now, Poll& poll) {
  auto feed = parse_feed({.bytes = response.body,
                          .content_type = response.header("content-type"),
                          .address = response.url,
                          .now = now,
                          .limits = limits});
  if (!feed.ok()) return fail(poll, feed.error());
  const std::uint64_t hash = hash_of(*feed);
  const bool same = hash == poll.next.content_hash;
  // Many servers send no validators, so equal items are recognised by their hash.
  poll.outcome = same ? Poll::Outcome::kNotModified : Poll::Outcome::kItems;
  poll.feed = std::move(*feed);
  poll.next.content_hash = hash;
  poll.next.etag = kept(response.header("etag"));
  poll.next.last_modified = kept(response.header("last-modified"));
}

void read_answer(const net::HttpResponse& response, const FeedLimits& limits, Time now,
                 Poll& poll) {
  poll.status = response.status;
  switch (response.status) {
    case 304: poll.outcome = Poll::Outcome::kNotModified; break;
    case 410:
      fail(poll, {Code::kNotFound, "the feed was removed permanently (410)"});
      poll.outcome = Poll::Outcome::kGone;
      return;
    case 200:
    // A proxy changed the answer (203), or it holds only new items (226).
    case 203:
    case 226: read_feed(response, limits, now, poll); break;
    default: fail(poll, {Code::kUnavailable, words_for(response.status)}); break;
  }
  // A new address counts only if there is a feed at it.
  if (poll.outcome != Poll::Outcome::kFailed) remember_place(response, poll);
}

std::optional<seconds> asked_by(const net::HttpResponse& response, Time now,
                                Poll::Outcome outcome) {
  // Retry-After is for failures; max-age tells how long a good answer stays fresh.
  if (outcome == Poll::Outcome::kFailed) return retry_after(response.header("retry-after"), now);
  return net::parse_cache_control(response.header("cache-control")).max_age;
}

PollSight sight_of(const Poll& poll, Time now) {
  PollSight sight{.kind = PollSight::Kind::kFailed, .now = now};
  if (poll.outcome == Poll::Outcome::kNotModified) sight.kind = PollSight::Kind::kUnchanged;
  if (poll.outcome != Poll::Outcome::kItems) return sight;
  sight.kind = PollSight::Kind::kChanged;
  for (const FeedItem& item : poll.feed.items) {
    if (item.published) sight.published.push_back(*item.published);
  }
  return sight;
}

}  // namespace

std::vector<net::Header> feed_request_headers() {
  return {{"Accept",
           "application/atom+xml, application/rss+xml, application/feed+json, application/rdf+xml, "
           "application/xml;q=0.9, text/xml;q=0.9, application/json;q=0.8, */*;q=0.5"}};
}

Poll FeedFetcher::judge(const Subscription& subscription, Result<net::HttpResponse> answer,
                        PollMoment moment) const {
  Poll poll;
  poll.next = subscription;
  std::optional<seconds> asked;
  if (answer.ok()) {
    read_answer(*answer, options_.limits, moment.now, poll);
    asked = asked_by(*answer, moment.now, poll.outcome);
  } else {
    poll.outcome = Poll::Outcome::kFailed;
    poll.error = answer.error();
  }
  PollSight sight = sight_of(poll, moment.now);
  sight.asked = asked;
  // Seeded by the address, so that the feeds of one moment draw different waits.
  Random random(hash64(subscription.url, moment.seed));
  poll.next_poll = moment.now + next_wait(poll.next.pace, sight, options_.bounds, random);
  return poll;
}

Poll FeedFetcher::poll(const Subscription& subscription, PollMoment moment) const {
  return judge(subscription, client_.get(request_for(subscription)), moment);
}

void FeedFetcher::poll_all(std::span<const Subscription> subscriptions, PollMoment moment,
                           const OnPoll& done) const {
  std::vector<net::HttpRequest> requests;
  requests.reserve(subscriptions.size());
  for (const Subscription& subscription : subscriptions)
    requests.push_back(request_for(subscription));
  client_.get_all(requests, [&](std::size_t number, Result<net::HttpResponse> answer) {
    done(number, judge(subscriptions[number], std::move(answer), moment));
  });
}

}  // namespace kin::stories
