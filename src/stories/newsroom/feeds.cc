#include <fmt/format.h>

#include <algorithm>

#include "stories/newsroom/timeline.h"

#include "base/ascii.h"

namespace kin::stories {
namespace {

FollowedFeed read_row(NewsQuery& row) {
  FollowedFeed feed;
  feed.id = row.id<FeedId>();
  feed.url = row.text();
  feed.title = row.text();
  feed.site = row.text();
  feed.folder = row.text();
  feed.grouped = row.truth();
  feed.has_icon = row.truth();
  feed.gone = row.truth();
  feed.polled = row.optional_time();
  feed.next_poll = row.optional_time();
  feed.problem = row.text();
  feed.items = static_cast<std::uint64_t>(row.integer());
  feed.unread = static_cast<std::uint64_t>(row.integer());
  if (feed.gone) feed.next_poll = std::nullopt;
  return feed;
}

DueFeed read_due_row(NewsQuery& row) {
  DueFeed feed;
  feed.id = row.id<FeedId>();
  Subscription& subscription = feed.subscription;
  subscription.url = row.text();
  subscription.credentials.kind = row.id<net::Credentials::Kind>();
  subscription.credentials.user = row.text();
  subscription.credentials.secret = row.text();
  subscription.etag = row.text();
  subscription.last_modified = row.text();
  subscription.content_hash = static_cast<std::uint64_t>(row.integer());
  subscription.pace.change_gap = std::chrono::seconds(row.integer());
  subscription.pace.changed_at = row.optional_time();
  subscription.pace.failures = static_cast<int>(row.integer());
  return feed;
}

}  // namespace

Result<std::vector<FollowedFeed>> read_feeds(NewsDatabase& database) {
  NewsQuery row = database.query(R"sql(
      SELECT f.id, f.url, CASE WHEN f.own_title <> '' THEN f.own_title
                               WHEN f.title <> '' THEN f.title ELSE f.url END,
             f.site, f.folder, f.grouped, EXISTS (SELECT 1 FROM icons WHERE feed = f.id), f.gone,
             f.polled, f.next_poll, f.problem, f.items, f.unread
      FROM feeds f)sql");
  std::vector<FollowedFeed> feeds;
  while (row.next()) feeds.push_back(read_row(row));
  KIN_RETURN_IF_ERROR(row.status());
  std::ranges::sort(feeds, {}, [](const FollowedFeed& feed) {
    return std::make_tuple(ascii_lowered(feed.folder), ascii_lowered(feed.title), feed.id);
  });
  return feeds;
}

Result<FollowedFeed> read_feed(NewsDatabase& database, FeedId feed) {
  NewsQuery row = database.query(R"sql(
      SELECT f.id, f.url, CASE WHEN f.own_title <> '' THEN f.own_title
                               WHEN f.title <> '' THEN f.title ELSE f.url END,
             f.site, f.folder, f.grouped, EXISTS (SELECT 1 FROM icons WHERE feed = f.id), f.gone,
             f.polled, f.next_poll, f.problem, f.items, f.unread
      FROM feeds f WHERE f.id = ?)sql",
                                 feed);
  if (row.next()) return read_row(row);
  KIN_RETURN_IF_ERROR(row.status());
  return Error{Code::kNotFound, fmt::format("there is no feed {}", number(feed))};
}

Result<std::optional<Favicon>> read_icon(NewsDatabase& database, FeedId feed) {
  NewsQuery row = database.query("SELECT url, type, bytes FROM icons WHERE feed = ?", feed);
  std::optional<Favicon> icon;
  if (row.next()) {
    icon.emplace();
    icon->url = row.text();
    icon->type = row.id<ImageType>();
    icon->bytes = row.text();
  }
  KIN_RETURN_IF_ERROR(row.status());
  return icon;
}

Result<std::vector<DueFeed>> read_due_feeds(NewsDatabase& database, Time now) {
  NewsQuery row = database.query(R"sql(
      SELECT id, url, credentials, user, secret, etag, last_modified, content_hash, change_gap,
             changed_at, failures
      FROM feeds WHERE gone = 0 AND (next_poll IS NULL OR next_poll <= ?)
      ORDER BY next_poll, id)sql",
                                 now);
  std::vector<DueFeed> feeds;
  while (row.next()) feeds.push_back(read_due_row(row));
  KIN_RETURN_IF_ERROR(row.status());
  return feeds;
}

Result<std::optional<DueFeed>> read_subscription(NewsDatabase& database, FeedId feed) {
  NewsQuery row = database.query(R"sql(
      SELECT id, url, credentials, user, secret, etag, last_modified, content_hash, change_gap,
             changed_at, failures
      FROM feeds WHERE id = ?)sql",
                                 feed);
  std::optional<DueFeed> found;
  if (row.next()) found = read_due_row(row);
  KIN_RETURN_IF_ERROR(row.status());
  return found;
}

Result<std::optional<Time>> read_next_due(NewsDatabase& database) {
  KIN_TRY(const auto next,
          database.number("SELECT min(coalesce(next_poll, 0)) FROM feeds WHERE gone = 0"));
  if (!next) return std::optional<Time>();
  return std::optional(Time(std::chrono::seconds(*next)));
}

}  // namespace kin::stories
