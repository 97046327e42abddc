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
  feed.items = row.count();
  feed.unread = row.count();
  feed.starred = row.count();
  // A feed that is gone is not polled, whatever time is stored.
  if (feed.gone) feed.next_poll = std::nullopt;
  return feed;
}

// All feeds, or `only` that one.
Result<std::vector<FollowedFeed>> read_some(NewsDatabase& database, std::optional<FeedId> only) {
  return read_all(database.query(R"sql(
      SELECT f.id, f.url, CASE WHEN f.own_title <> '' THEN f.own_title
                               WHEN f.title <> '' THEN f.title ELSE f.url END,
             f.site, f.folder, f.grouped, EXISTS (SELECT 1 FROM icons WHERE feed = f.id), f.gone,
             f.polled, f.next_poll, f.problem, f.items, f.unread,
             (SELECT count(*) FROM stories s WHERE s.starred = 1 AND EXISTS
               (SELECT 1 FROM items WHERE story = s.id AND feed = f.id))
      FROM feeds f WHERE f.removed = 0 AND (?1 IS NULL OR f.id = ?1))sql",
                                 only),
                  read_row);
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
  subscription.content_hash = row.count();
  subscription.pace.change_gap = std::chrono::seconds(row.integer());
  subscription.pace.changed_at = row.optional_time();
  subscription.pace.failures = static_cast<int>(row.integer());
  return feed;
}

}  // namespace

Result<std::vector<FollowedFeed>> read_feeds(NewsDatabase& database) {
  KIN_TRY(auto feeds, read_some(database, std::nullopt));
  std::ranges::sort(feeds, {}, [](const FollowedFeed& feed) {
    return std::make_tuple(ascii_lowered(feed.folder), ascii_lowered(feed.title), feed.id);
  });
  return feeds;
}

Result<FollowedFeed> read_feed(NewsDatabase& database, FeedId feed) {
  KIN_TRY(auto found, read_some(database, feed));
  if (!found.empty()) return std::move(found.front());
  return no_such_feed(feed);
}

Result<std::optional<Favicon>> read_icon(NewsDatabase& database, FeedId feed) {
  return read_first(database.query("SELECT url, type, bytes FROM icons WHERE feed = ?", feed),
                    [](NewsQuery& row) {
                      // Braces evaluate in order.
                      return Favicon{row.text(), row.id<ImageType>(), row.text()};
                    });
}

Result<std::vector<DueFeed>> read_due_feeds(NewsDatabase& database, Time now) {
  return read_all(database.query(R"sql(
      SELECT id, url, credentials, user, secret, etag, last_modified, content_hash, change_gap,
             changed_at, failures
      FROM feeds WHERE gone = 0 AND removed = 0 AND (next_poll IS NULL OR next_poll <= ?)
      ORDER BY next_poll, id)sql",
                                 now),
                  read_due_row);
}

Result<DueFeed> read_subscription(NewsDatabase& database, FeedId feed) {
  KIN_TRY(auto found, read_first(database.query(R"sql(
      SELECT id, url, credentials, user, secret, etag, last_modified, content_hash, change_gap,
             changed_at, failures
      FROM feeds WHERE id = ? AND removed = 0)sql",
                                                feed),
                                 read_due_row));
  if (found) return std::move(*found);
  return no_such_feed(feed);
}

Status check_not_followed(NewsDatabase& database, const std::string& url) {
  KIN_TRY(const auto known,
          database.number("SELECT id FROM feeds WHERE url = ? AND removed = 0", url));
  if (!known) return Done{};
  return Error{Code::kFailedPrecondition,
               fmt::format("{} is followed already (feed {})", url, *known)};
}

Error no_such_feed(FeedId feed) {
  return {Code::kNotFound, fmt::format("there is no feed {}", number(feed))};
}

Error no_such_story(StoryId story) {
  return {Code::kNotFound, fmt::format("there is no story {}", number(story))};
}

Result<std::optional<Time>> read_next_due(NewsDatabase& database) {
  KIN_TRY(const auto next, database.number("SELECT min(coalesce(next_poll, 0)) FROM feeds "
                                           "WHERE gone = 0 AND removed = 0"));
  if (!next) return std::optional<Time>();
  return std::optional(Time(std::chrono::seconds(*next)));
}

}  // namespace kin::stories
