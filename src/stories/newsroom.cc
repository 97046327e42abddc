#include "stories/newsroom.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include "base/file.h"
#include "net/url.h"
#include "stories/feed_finder.h"
#include "stories/news_audit.h"
#include "stories/news_schema.h"
#include "stories/news_settings.h"
#include "stories/news_timeline.h"
#include "stories/news_writer.h"

namespace kin::stories {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDatabaseName = "news.db";
constexpr const char* kLockName = "news.lock";
constexpr std::chrono::hours kIconAge{24 * 30};
constexpr std::size_t kIconFetchers = 4;
constexpr std::size_t kMostIconsAtOnce = 100;

Result<File> lock_folder(const fs::path& folder) {
  KIN_TRY(File file, File::open_to_update(folder / kLockName));
  if (const Status locked = file.lock(); !locked.ok()) {
    if (locked.error().code != Code::kFailedPrecondition) return locked.error();
    const auto owner = read_file(folder / kLockName);
    const bool named = owner.ok() && !owner->empty();
    return Error{
        Code::kFailedPrecondition,
        fmt::format("{} is in use by another kindred{}, and one may change it at a time "
                    "(stop that one, or let it do this; looking needs no waiting)",
                    folder.string(), named ? fmt::format(" (process {})", *owner) : std::string())};
  }
  KIN_RETURN_IF_ERROR(file.truncate(0));
  KIN_RETURN_IF_ERROR(file.write_at(0, std::to_string(::getpid())));
  return file;
}

Status make_private_folder(const fs::path& folder) {
  std::error_code error;
  const bool made = fs::create_directories(folder, error);
  if (error) return system_error("make the folder", folder, error.value());
  if (made) fs::permissions(folder, fs::perms::owner_all, error);
  return Done{};
}

// Connections that only read, each lent to one call at a time.
class Readers {
 public:
  explicit Readers(fs::path path) : path_(std::move(path)) {}

  template <typename Work>
  auto read(const Work& work) -> decltype(work(std::declval<NewsDatabase&>())) {
    KIN_TRY(std::unique_ptr<NewsDatabase> database, take());
    auto result = work(*database);
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

  fs::path path_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<NewsDatabase>> free_;
};

bool has_scheme(std::string_view address) {
  return address.find("://") != std::string_view::npos || address.starts_with("feed:");
}

// Kept apart from the address, which is shown.
net::Credentials credentials_in(const net::Url& url) {
  if (url.user().empty()) return {};
  const std::size_t colon = std::min(url.user().find(':'), url.user().size());
  return {.kind = net::Credentials::Kind::kBasic,
          .user = url.user().substr(0, colon),
          .secret = url.user().substr(std::min(colon + 1, url.user().size()))};
}

std::string folder_name(const std::vector<std::string>& folders) {
  std::string name;
  for (const std::string& folder : folders) name += (name.empty() ? "" : "/") + folder;
  return name;
}

std::vector<std::string> folder_levels(std::string_view name) {
  std::vector<std::string> levels;
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t end = std::min(name.find('/', at), name.size());
    if (end > at) levels.emplace_back(name.substr(at, end - at));
    at = end + 1;
  }
  return levels;
}

// Levels without spaces around them, and none that is empty.
std::string tidy_folder(std::string_view name) {
  std::vector<std::string> levels = folder_levels(name);
  for (std::string& level : levels) {
    const auto first = level.find_first_not_of(" \t\r\n");
    const auto last = level.find_last_not_of(" \t\r\n");
    level = first == std::string::npos ? std::string() : level.substr(first, last - first + 1);
  }
  std::erase(levels, "");
  return folder_name(levels);
}

}  // namespace

struct Newsroom::State {
  State(fs::path where, NewsOptions chosen)
      : options(std::move(chosen)), readers(where / kDatabaseName) {}

  Time now() const {
    if (options.clock) return options.clock();
    return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  }
  PollMoment moment() { return {.now = now(), .seed = seed.fetch_add(1)}; }

  // Runs `work` as the only writer, and tells listeners what came of it, in order.
  template <typename Work>
  auto write(const Work& work)
      -> decltype(work(std::declval<NewsWriter&>(), std::declval<NewsEvent&>())) {
    const std::lock_guard lock(writing);
    if (!writer)
      return Error{Code::kFailedPrecondition, "these feeds were opened for reading alone"};
    NewsEvent event;
    auto result = work(*writer, event);
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
    return Error{Code::kFailedPrecondition, "these feeds were opened for reading alone"};
  }

  NewsOptions options;
  std::optional<File> lock_file;
  std::unique_ptr<net::HttpClient> client;
  std::atomic<std::uint64_t> seed{0};
  mutable Readers readers;
  std::mutex refreshing;  // taken before `writing`
  std::mutex writing;
  std::unique_ptr<NewsWriter> writer;
  std::mutex listening;
  std::map<std::uint64_t, Listener> listeners;
  std::uint64_t next_listener = 1;

  Result<Poll> find(const NewFeed& feed);
  Status check_not_followed(const std::string& url);
  Poll poll_one(const Subscription& subscription);
  Result<Refresh> refresh(const std::vector<DueFeed>& due);
  Status fetch_icons(const std::vector<FeedId>& feeds);
  Result<std::vector<std::pair<FeedId, std::string>>> sites_without_icon(
      const std::vector<FeedId>& feeds);
};

Newsroom::Newsroom(std::unique_ptr<State> state) : state_(std::move(state)) {}
Newsroom::~Newsroom() = default;

Result<std::unique_ptr<Newsroom>> Newsroom::open(const fs::path& folder, NewsOptions options) {
  KIN_RETURN_IF_ERROR(make_private_folder(folder));
  KIN_TRY(File lock, lock_folder(folder));
  auto state = std::make_unique<State>(folder, std::move(options));
  state->lock_file.emplace(std::move(lock));
  KIN_TRY(state->writer, NewsWriter::open(folder / kDatabaseName, state->options.grouping));
  state->client = std::make_unique<net::HttpClient>(state->options.http);
  state->seed = std::random_device()();
  return std::unique_ptr<Newsroom>(new Newsroom(std::move(state)));
}

Result<std::unique_ptr<Newsroom>> Newsroom::open_for_reading(const fs::path& folder) {
  KIN_TRY(const bool there, file_exists(folder / kDatabaseName));
  if (!there)
    return Error{Code::kNotFound, fmt::format("{} has no feeds yet (add one)", folder.string())};
  auto state = std::make_unique<State>(folder, NewsOptions());
  KIN_RETURN_IF_ERROR(
      state->readers.read([](NewsDatabase& database) { return check_version(database); }));
  return std::unique_ptr<Newsroom>(new Newsroom(std::move(state)));
}

Poll Newsroom::State::poll_one(const Subscription& subscription) {
  return FeedFetcher(*client, options.fetching).poll(subscription, moment());
}

// The feed itself in most cases, at the price of one request; a page is asked for its feeds.
Result<Poll> Newsroom::State::find(const NewFeed& feed) {
  std::string url = feed.url;
  net::Credentials credentials = feed.credentials;
  if (has_scheme(url)) {
    KIN_TRY(const net::Url parsed, net::Url::parse(url));
    if (credentials.kind == net::Credentials::Kind::kNone) credentials = credentials_in(parsed);
    url = parsed.text();
    KIN_RETURN_IF_ERROR(check_not_followed(url));
    Poll poll = poll_one({.url = url, .credentials = credentials});
    if (poll.outcome == Poll::Outcome::kItems) return poll;
    if (poll.status != 200) return poll.error;
  }
  KIN_TRY(const std::vector<FeedLink> found,
          find_feeds(*client, url, {.now = now(), .credentials = credentials}));
  Poll poll = poll_one({.url = found.front().url, .credentials = credentials});
  if (poll.outcome != Poll::Outcome::kItems) return poll.error;
  return poll;
}

Status Newsroom::State::check_not_followed(const std::string& url) {
  KIN_TRY(const auto known, readers.read([&](NewsDatabase& database) {
    return database.number("SELECT id FROM feeds WHERE url = ?", url);
  }));
  if (!known) return Done{};
  return Error{Code::kFailedPrecondition,
               fmt::format("{} is followed already (feed {})", url, *known)};
}

Result<FollowedFeed> Newsroom::add_feed(const NewFeed& feed) {
  KIN_RETURN_IF_ERROR(state_->check_writable());
  KIN_TRY(const Poll poll, state_->find(feed));
  const Time now = state_->now();
  KIN_TRY(const FeedId id, state_->write([&](NewsWriter& writer, NewsEvent& event) {
    return writer.add_feed({.url = poll.next.url,
                            .title = feed.title,
                            .feed_title = poll.feed.title,
                            .site = poll.feed.site,
                            .folder = tidy_folder(feed.folder),
                            .credentials = poll.next.credentials,
                            .grouped = feed.grouped},
                           now, event);
  }));
  KIN_TRY(const std::uint64_t added, state_->write([&](NewsWriter& writer, NewsEvent& event) {
    return writer.take_poll(id, poll, now, event);
  }));
  (void)added;
  KIN_RETURN_IF_ERROR(state_->fetch_icons({id}));
  return this->feed(id);
}

Result<std::vector<FollowedFeed>> Newsroom::feeds() const {
  return state_->readers.read([](NewsDatabase& database) { return read_feeds(database); });
}

Result<FollowedFeed> Newsroom::feed(FeedId id) const {
  return state_->readers.read([&](NewsDatabase& database) { return read_feed(database, id); });
}

Result<FollowedFeed> Newsroom::edit_feed(FeedId id, const FeedEdit& edit) {
  FeedEdit tidy = edit;
  if (tidy.folder) tidy.folder = tidy_folder(*tidy.folder);
  KIN_RETURN_IF_ERROR(state_->write(
      [&](NewsWriter& writer, NewsEvent& event) { return writer.edit_feed(id, tidy, event); }));
  return feed(id);
}

Status Newsroom::remove_feed(FeedId id) {
  return state_->write(
      [&](NewsWriter& writer, NewsEvent& event) { return writer.remove_feed(id, event); });
}

Result<std::optional<Favicon>> Newsroom::icon(FeedId id) const {
  return state_->readers.read([&](NewsDatabase& database) { return read_icon(database, id); });
}

Result<Import> Newsroom::import_opml(std::string_view bytes) {
  KIN_RETURN_IF_ERROR(state_->check_writable());
  KIN_TRY(const Opml opml, parse_opml(bytes));
  Import import;
  import.left_out = opml.left_out;
  const Time now = state_->now();
  for (const OpmlFeed& feed : opml.feeds) {
    const auto url = net::Url::parse(feed.url);
    if (!url.ok()) {
      ++import.left_out;
      continue;
    }
    const auto added = state_->write([&](NewsWriter& writer, NewsEvent& event) {
      return writer.add_feed({.url = url->text(),
                              .title = feed.title,
                              .feed_title = {},
                              .site = feed.site,
                              .folder = tidy_folder(folder_name(feed.folders)),
                              .credentials = credentials_in(*url),
                              .grouped = true},
                             now, event);
    });
    if (!added.ok() && added.error().code != Code::kFailedPrecondition) return added.error();
    ++(added.ok() ? import.added : import.already);
  }
  return import;
}

Result<std::string> Newsroom::export_opml() const {
  KIN_TRY(const std::vector<FollowedFeed> all, feeds());
  Opml opml;
  opml.title = "Kindred";
  for (const FollowedFeed& feed : all)
    opml.feeds.push_back({.url = feed.url,
                          .title = feed.title == feed.url ? std::string() : feed.title,
                          .site = feed.site,
                          .folders = folder_levels(feed.folder)});
  return write_opml(opml);
}

Result<TimelinePage> Newsroom::timeline(const TimelineQuery& query) const {
  return state_->readers.read(
      [&](NewsDatabase& database) { return read_timeline(database, query); });
}

Result<StoryView> Newsroom::story(StoryId id) const {
  return state_->readers.read([&](NewsDatabase& database) { return read_story(database, id); });
}

Result<StoryView> Newsroom::edit_story(StoryId id, const StoryEdit& edit) {
  KIN_RETURN_IF_ERROR(state_->write(
      [&](NewsWriter& writer, NewsEvent& event) { return writer.edit_story(id, edit, event); }));
  return story(id);
}

Result<std::uint64_t> Newsroom::mark_read(const TimelineQuery& query) {
  return state_->write([&](NewsWriter& writer, NewsEvent& event) -> Result<std::uint64_t> {
    KIN_TRY(const std::vector<StoryId> stories, read_unread(writer.database(), query));
    return writer.mark_read(stories, event);
  });
}

Result<Settings> Newsroom::settings() const {
  return state_->readers.read(
      [&](NewsDatabase& database) { return load_settings(database, state_->options.grouping); });
}

Status Newsroom::change_settings(const Settings& settings) {
  return state_->write(
      [&](NewsWriter& writer, NewsEvent&) { return writer.change_settings(settings); });
}

Result<StoryView> Newsroom::separate(ItemId item) {
  KIN_TRY(const StoryId own, state_->write([&](NewsWriter& writer, NewsEvent& event) {
    return writer.separate(item, state_->now(), event);
  }));
  return story(own);
}

Result<StoryView> Newsroom::unite(StoryId a, StoryId b) {
  KIN_TRY(const StoryId both, state_->write([&](NewsWriter& writer, NewsEvent& event) {
    return writer.unite(a, b, state_->now(), event);
  }));
  return story(both);
}

Result<Newsroom::Refresh> Newsroom::refresh_due() {
  KIN_RETURN_IF_ERROR(state_->check_writable());
  const std::lock_guard lock(state_->refreshing);
  const Time now = state_->now();
  KIN_TRY(const auto due, state_->readers.read([&](NewsDatabase& database) {
    return read_due_feeds(database, now);
  }));
  return state_->refresh(due);
}

Result<Newsroom::Refresh> Newsroom::refresh(std::span<const FeedId> feeds) {
  KIN_RETURN_IF_ERROR(state_->check_writable());
  const std::lock_guard lock(state_->refreshing);
  std::vector<DueFeed> due;
  for (const FeedId id : feeds) {
    KIN_TRY(const auto feed, state_->readers.read([&](NewsDatabase& database) {
      return read_subscription(database, id);
    }));
    if (!feed) return Error{Code::kNotFound, fmt::format("there is no feed {}", number(id))};
    due.push_back(*feed);
  }
  return state_->refresh(due);
}

Result<Newsroom::Refresh> Newsroom::State::refresh(const std::vector<DueFeed>& due) {
  std::vector<Subscription> subscriptions;
  subscriptions.reserve(due.size());
  for (const DueFeed& feed : due) subscriptions.push_back(feed.subscription);
  Refresh refresh;
  std::optional<Error> failure;
  std::vector<FeedId> good;
  const auto take = [&](std::size_t number, const Poll& poll) {
    // Stopped by us: nothing to hold against the feed.
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
  KIN_RETURN_IF_ERROR(fetch_icons(good));
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
        sites.emplace_back(feed, site.empty() && url.ok() ? url->origin() + "/" : site);
      }
      KIN_RETURN_IF_ERROR(row.status());
    }
    return Done{};
  };
  KIN_RETURN_IF_ERROR(readers.read(find));
  return sites;
}

Status Newsroom::State::fetch_icons(const std::vector<FeedId>& feeds) {
  KIN_TRY(const auto sites, sites_without_icon(feeds));
  std::atomic<std::size_t> next = 0;
  std::mutex failing;
  Status outcome = Done{};
  const auto fetch = [&] {
    for (std::size_t i = next++; i < sites.size(); i = next++) {
      auto icon = find_favicon(*client, sites[i].second);
      const Status stored = write([&](NewsWriter& news, NewsEvent& event) {
        return news.set_icon(sites[i].first, icon.ok() ? *icon : std::nullopt, now(), event);
      });
      const std::lock_guard lock(failing);
      if (!stored.ok() && outcome.ok()) outcome = stored;
    }
  };
  std::vector<std::jthread> fetchers;
  while (fetchers.size() + 1 < std::min(kIconFetchers, sites.size())) fetchers.emplace_back(fetch);
  fetch();
  fetchers.clear();
  return outcome;
}

Result<std::optional<Time>> Newsroom::next_due() const {
  return state_->readers.read([](NewsDatabase& database) { return read_next_due(database); });
}

Result<std::uint64_t> Newsroom::sweep() {
  return state_->write([&](NewsWriter& writer, NewsEvent& event) {
    return writer.sweep(state_->now() - state_->options.retention, event);
  });
}

void Newsroom::cancel() {
  if (state_->client) state_->client->cancel();
}

Result<std::vector<std::string>> Newsroom::check() const {
  const std::lock_guard lock(state_->writing);
  const Grouper* grouper = state_->writer ? state_->writer->grouper() : nullptr;
  return state_->readers.read([&](NewsDatabase& database) { return audit(database, grouper); });
}

std::uint64_t Newsroom::listen(Listener listener) {
  const std::lock_guard lock(state_->listening);
  state_->listeners.emplace(state_->next_listener, std::move(listener));
  return state_->next_listener++;
}

void Newsroom::stop_listening(std::uint64_t number) {
  const std::lock_guard lock(state_->listening);
  state_->listeners.erase(number);
}

}  // namespace kin::stories
