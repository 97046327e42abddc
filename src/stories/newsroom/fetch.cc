#include <fmt/format.h>

#include "base/workers.h"
#include "net/url.h"
#include "stories/feeds/finder.h"
#include "stories/newsroom/state.h"

namespace kin::stories {
namespace {

// Icons change rarely, and a missing one is looked for again after this time.
constexpr std::chrono::hours kIconAge{24 * 30};
constexpr int kIconFetchers = 4;
// Further icons are fetched by later refreshes.
constexpr std::size_t kMostIconsAtOnce = 100;

}  // namespace

Poll Newsroom::State::poll_now(const Subscription& subscription) {
  return FeedFetcher(*asking, options.fetching).poll(subscription, moment());
}

// Most addresses are feeds and need one request. If it is a page, its links are followed.
Result<Poll> Newsroom::State::find(const NewFeed& feed) {
  std::string url = feed.url;
  net::Credentials credentials = feed.credentials;
  if (has_scheme(url)) {
    KIN_TRY(const net::Url parsed, net::Url::parse(url));
    if (credentials.kind == net::Credentials::Kind::kNone)
      credentials = net::credentials_in(parsed);
    url = parsed.text();
    KIN_RETURN_IF_ERROR(readers.read(check_not_followed, url));
    Poll poll = poll_now({.url = url, .credentials = credentials});
    if (poll.outcome == Poll::Outcome::kItems) return poll;
    // Only a page that was delivered can have links.
    if (poll.status != 200) return poll.error;
  }
  KIN_TRY(const std::vector<FeedLink> found,
          find_feeds(*asking, url, {.now = now(), .credentials = credentials}));
  Poll poll = poll_now({.url = found.front().url, .credentials = credentials});
  if (poll.outcome != Poll::Outcome::kItems) return poll.error;
  return poll;
}

Result<Newsroom::Refresh> Newsroom::State::refresh(const std::vector<DueFeed>& due) {
  std::vector<Subscription> subscriptions;
  subscriptions.reserve(due.size());
  for (const DueFeed& feed : due) subscriptions.push_back(feed.subscription);
  Refresh refresh;
  // The first failure to store. Polls in progress are still stored.
  std::optional<Error> failure;
  std::vector<FeedId> good;
  // Called as each feed answers, so a slow server delays only itself.
  const auto take = [&](std::size_t number, const Poll& poll) {
    // Cancelled by us, so it does not count as a failure of the feed.
    if (poll.outcome == Poll::Outcome::kFailed && poll.error.code == Code::kCancelled) return;
    const auto added = write([&](NewsWriter& news, NewsEvent& event) {
      return news.take_poll(due[number].id, poll, now(), event);
    });
    if (!added.ok() && !failure) failure = added.error();
    if (!added.ok()) return;
    const bool failed =
        poll.outcome == Poll::Outcome::kFailed || poll.outcome == Poll::Outcome::kGone;
    ++refresh.polled;
    refresh.failed += failed ? 1 : 0;
    refresh.items += *added;
    if (!failed) good.push_back(due[number].id);
  };
  FeedFetcher(*client, options.fetching).poll_all(subscriptions, moment(), take);
  if (failure) return *failure;
  KIN_RETURN_IF_ERROR(fetch_icons(*client, good));
  return refresh;
}

Result<std::vector<std::pair<FeedId, std::string>>> Newsroom::State::sites_without_icon(
    const std::vector<FeedId>& feeds) {
  const Time oldest = now() - kIconAge;
  std::vector<std::pair<FeedId, std::string>> sites;
  const auto find = [&](NewsDatabase& database) -> Status {
    for (const FeedId feed : feeds) {
      NewsQuery row = database.query(R"sql(
          SELECT site, url FROM feeds
          WHERE id = ? AND (icon_checked IS NULL OR icon_checked < ?))sql",
                                     feed, oldest);
      if (row.next() && sites.size() < kMostIconsAtOnce) {
        const std::string site = row.text();
        const auto url = net::Url::parse(row.text());
        // Feeds without a site are mostly on the site's own host.
        sites.emplace_back(feed, site.empty() && url.ok() ? url->origin() + "/" : site);
      }
      KIN_RETURN_IF_ERROR(row.status());
    }
    return Done{};
  };
  KIN_RETURN_IF_ERROR(readers.read(find));
  return sites;
}

Status Newsroom::State::fetch_icons(net::HttpClient& from, const std::vector<FeedId>& feeds) {
  KIN_TRY(const auto sites, sites_without_icon(feeds));
  return parallel_for(kIconFetchers, sites.size(), [&](std::size_t i) {
    // Without the writer's lock, which is only taken to store the result.
    const auto icon = find_favicon(from, sites[i].second);
    return write([&](NewsWriter& news, NewsEvent& event) {
      return news.set_icon(sites[i].first, icon.ok() ? *icon : std::nullopt, now(), event);
    });
  });
}

}  // namespace kin::stories
