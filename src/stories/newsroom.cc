#include "stories/newsroom.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/ascii.h"
#include "stories/feeds/html_text.h"
#include "stories/newsroom/audit.h"
#include "stories/newsroom/schema.h"
#include "stories/newsroom/settings.h"
#include "stories/newsroom/state.h"

namespace kin::stories {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLockName = "news.lock";
// The number of requests that people may wait for at the same time.
constexpr int kMostAsked = 64;
// Longest name that a user may give.
constexpr std::size_t kLongestTitle = 500;
constexpr std::size_t kLongestFolder = 500;
constexpr std::size_t kDeepestFolder = 10;

Result<File> lock_folder(const fs::path& folder) {
  KIN_TRY(File file, File::open_to_update(folder / kLockName));
  // The file names the process that holds the lock, for the error message of other processes.
  if (const Status locked = file.lock(); !locked.ok()) {
    if (locked.error().code != Code::kFailedPrecondition) return locked.error();
    const auto owner = read_file(folder / kLockName);
    const bool named = owner.ok() && !owner->empty();
    return Error{
        Code::kFailedPrecondition,
        fmt::format(
            "{} is in use by another kindred{}, and only one process at a time may change it "
            "(stop that process, or make the change there; reading is always possible)",
            folder.string(), named ? fmt::format(" (process {})", *owner) : std::string())};
  }
  // A shorter number must not be followed by the digits of the one before.
  KIN_RETURN_IF_ERROR(file.truncate(0));
  KIN_RETURN_IF_ERROR(file.write_at(0, std::to_string(::getpid())));
  return file;
}

Status make_private_folder(const fs::path& folder) {
  std::error_code error;
  const bool made = fs::create_directories(folder, error);
  if (error) return system_error("make the folder", folder, error.value());
  // Feeds may have passwords. A folder that was there keeps the permissions that its owner chose.
  if (made) fs::permissions(folder, fs::perms::owner_all, error);
  return Done{};
}

std::string folder_name(const std::vector<std::string>& folders) {
  std::string name;
  for (const std::string& folder : folders) name += (name.empty() ? "" : "/") + folder;
  return name;
}

std::vector<std::string> folder_levels(std::string_view name) {
  std::vector<std::string> levels;
  while (!name.empty()) {
    if (const std::string_view level = take_until(name, "/"); !level.empty())
      levels.emplace_back(level);
  }
  return levels;
}

// Trims the levels and removes empty ones.
std::string tidy_folder(std::string_view name) {
  std::vector<std::string> levels = folder_levels(name);
  for (std::string& level : levels) level = one_line(level);
  std::erase(levels, "");
  return folder_name(levels);
}

Error too_long(std::string_view what, std::size_t bytes, std::size_t most) {
  return {Code::kInvalidArgument,
          fmt::format("the {} has {} bytes, at most {} are allowed", what, bytes, most)};
}

// On one line, without invisible characters.
Result<std::string> tidy_title(std::string_view title) {
  std::string tidy = one_line(title);
  if (tidy.size() > kLongestTitle) return too_long("title", tidy.size(), kLongestTitle);
  return tidy;
}

Result<std::string> checked_folder(std::string_view name) {
  std::string tidy = tidy_folder(name);
  if (tidy.size() > kLongestFolder) return too_long("folder name", tidy.size(), kLongestFolder);
  if (folder_levels(tidy).size() > kDeepestFolder)
    return Error{Code::kInvalidArgument,
                 fmt::format("the folder has {} levels, at most {} are allowed",
                             folder_levels(tidy).size(), kDeepestFolder)};
  return tidy;
}

// A folder of an imported list, which is shortened rather than refused.
std::string short_folder(const std::vector<std::string>& folders) {
  std::vector<std::string> levels;
  for (const std::string& folder : folders) {
    if (levels.size() < kDeepestFolder) levels.push_back(clipped(one_line(folder), 49));
  }
  return tidy_folder(folder_name(levels));
}

}  // namespace

Newsroom::Newsroom(std::unique_ptr<State> state) : state_(std::move(state)) {}
Newsroom::~Newsroom() = default;

Result<std::unique_ptr<Newsroom>> Newsroom::open(const fs::path& folder, Clock& clock,
                                                 NewsOptions options) {
  KIN_RETURN_IF_ERROR(make_private_folder(folder));
  // The lock comes before the database is opened, because opening may migrate it.
  KIN_TRY(File lock, lock_folder(folder));
  auto state = std::make_unique<State>(folder, &clock, std::move(options));
  state->lock_file.emplace(std::move(lock));
  KIN_TRY(state->writer, NewsWriter::open(folder / kNewsDatabaseName, state->options.grouping,
                                          state->options.model));
  state->client = std::make_unique<net::HttpClient>(state->options.http);
  net::HttpOptions patient = state->options.http;
  patient.transfers = kMostAsked;
  patient.transfers_per_host = kMostAsked;
  state->asking = std::make_unique<net::HttpClient>(patient);
  state->seed = state->options.seed;
  return std::unique_ptr<Newsroom>(new Newsroom(std::move(state)));
}

Result<std::unique_ptr<Newsroom>> Newsroom::open_for_reading(const fs::path& folder) {
  KIN_TRY(const bool there, file_exists(folder / kNewsDatabaseName));
  if (!there)
    return Error{Code::kNotFound, fmt::format("{} has no feeds yet (add one)", folder.string())};
  // Readers take no lock: SQLite gives each of them a snapshot.
  auto state = std::make_unique<State>(folder, nullptr, NewsOptions());
  KIN_RETURN_IF_ERROR(state->readers.read(check_version));
  return std::unique_ptr<Newsroom>(new Newsroom(std::move(state)));
}

Result<FollowedFeed> Newsroom::add_feed(const NewFeed& feed) {
  KIN_RETURN_IF_ERROR(state_->check_writable());
  KIN_TRY(const std::string title, tidy_title(feed.title));
  KIN_TRY(const std::string folder, checked_folder(feed.folder));
  // Fetched before anything is stored, and without a lock: it may take seconds.
  KIN_TRY(const Poll poll, state_->find(feed));
  const Time now = state_->now();
  const NewsWriter::NewSubscription subscription{.url = poll.next.url,
                                                 .title = title,
                                                 .feed_title = poll.feed.title,
                                                 .site = poll.feed.site,
                                                 .folder = folder,
                                                 .credentials = poll.next.credentials,
                                                 .grouped = feed.grouped};
  KIN_TRY(const FeedId id, state_->write(&NewsWriter::add_feed, subscription, now));
  KIN_RETURN_IF_ERROR(state_->write(&NewsWriter::take_poll, id, poll, now));
  // Only then the icon: a feed without one is still followed.
  KIN_RETURN_IF_ERROR(state_->fetch_icons(*state_->asking, {id}));
  return this->feed(id);
}

Result<std::vector<FollowedFeed>> Newsroom::feeds() const {
  return state_->readers.read(read_feeds);
}

Result<FollowedFeed> Newsroom::feed(FeedId id) const {
  return state_->readers.read(read_feed, id);
}

Result<FollowedFeed> Newsroom::edit_feed(FeedId id, const FeedEdit& edit) {
  FeedEdit tidy = edit;
  if (tidy.title) {
    KIN_TRY(tidy.title, tidy_title(*tidy.title));
  }
  if (tidy.folder) {
    KIN_TRY(tidy.folder, checked_folder(*tidy.folder));
  }
  KIN_RETURN_IF_ERROR(state_->write(&NewsWriter::edit_feed, id, tidy));
  return feed(id);
}

Status Newsroom::remove_feed(FeedId id, StarredItems starred) {
  return state_->write(&NewsWriter::remove_feed, id, starred);
}

Result<std::optional<Favicon>> Newsroom::icon(FeedId id) const {
  return state_->readers.read(read_icon, id);
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
    const NewsWriter::NewSubscription subscription{
        .url = url->text(),
        .title = clipped(one_line(feed.title), kLongestTitle),
        .feed_title = {},
        .site = feed.site,
        .folder = short_folder(feed.folders),
        .credentials = net::credentials_in(*url),
        .grouped = true};
    const auto added = state_->write(&NewsWriter::add_feed, subscription, now);
    // Feeds that are followed already are counted, not refused.
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
                          // A feed without a title shows its address. That is not a title to be
                          // imported again.
                          .title = feed.title == feed.url ? std::string() : feed.title,
                          .site = feed.site,
                          .folders = folder_levels(feed.folder)});
  return write_opml(opml);
}

Result<TimelinePage> Newsroom::timeline(const TimelineQuery& query) const {
  return state_->readers.read(read_timeline, query);
}

Result<StoryView> Newsroom::story(StoryId id, const TimelineQuery& scope) const {
  return state_->readers.read(read_story, id, scope);
}

Result<std::vector<RelatedStory>> Newsroom::related(StoryId id, std::size_t most) const {
  return state_->readers.read(read_related, id, most);
}

Result<StoryView> Newsroom::edit_story(StoryId id, const StoryEdit& edit) {
  KIN_RETURN_IF_ERROR(state_->write(&NewsWriter::edit_story, id, edit));
  return story(id);
}

Result<MarkedRead> Newsroom::mark_read(const TimelineQuery& query, std::optional<ItemId> before) {
  return state_->write([&](NewsWriter& writer, NewsEvent& event) -> Result<MarkedRead> {
    KIN_TRY(const std::vector<StoryId> stories, read_unread(writer.database(), query));
    return writer.mark_read(stories, before, event);
  });
}

Result<std::uint64_t> Newsroom::undo_mark(std::uint64_t mark) {
  return state_->write(&NewsWriter::undo_mark, mark);
}

Result<Settings> Newsroom::settings() const {
  return state_->readers.read(load_settings, state_->options.grouping);
}

Status Newsroom::change_settings(const Settings& settings) {
  return state_->write(
      [&](NewsWriter& writer, NewsEvent&) { return writer.change_settings(settings); });
}

Result<StoryView> Newsroom::separate(ItemId item) {
  KIN_RETURN_IF_ERROR(state_->check_writable());
  KIN_TRY(const StoryId own, state_->write(&NewsWriter::separate, item, state_->now()));
  return story(own);
}

Result<StoryView> Newsroom::unite(StoryId a, StoryId b) {
  KIN_RETURN_IF_ERROR(state_->check_writable());
  KIN_TRY(const StoryId both, state_->write(&NewsWriter::unite, a, b, state_->now()));
  return story(both);
}

Result<Newsroom::Refresh> Newsroom::refresh_due() {
  KIN_RETURN_IF_ERROR(state_->check_writable());
  // One refresh at a time, so that no feed is polled twice at once.
  const std::lock_guard lock(state_->refreshing);
  KIN_TRY(const auto due, state_->readers.read(read_due_feeds, state_->now()));
  return state_->refresh(due);
}

Result<Newsroom::Refresh> Newsroom::refresh(std::span<const FeedId> feeds) {
  KIN_RETURN_IF_ERROR(state_->check_writable());
  const std::lock_guard lock(state_->refreshing);
  std::vector<DueFeed> due;
  for (const FeedId id : feeds) {
    KIN_TRY(const auto feed, state_->readers.read(read_subscription, id));
    due.push_back(feed);
  }
  return state_->refresh(due);
}

Result<std::optional<Time>> Newsroom::next_due() const {
  return state_->readers.read(read_next_due);
}

Result<std::uint64_t> Newsroom::sweep() {
  KIN_RETURN_IF_ERROR(state_->check_writable());
  return state_->write(&NewsWriter::sweep, state_->now() - state_->options.retention);
}

void Newsroom::cancel() {
  // Opened for reading, it has no clients.
  if (state_->client) state_->client->cancel();
  if (state_->asking) state_->asking->cancel();
}

Result<std::vector<std::string>> Newsroom::check() const {
  // The grouper must not change while it is compared with the database.
  const std::lock_guard lock(state_->writing);
  const Grouper* grouper = state_->writer ? state_->writer->grouper() : nullptr;
  return state_->readers.read(audit, grouper);
}

std::uint64_t Newsroom::listen(Listener listener) {
  const std::lock_guard lock(state_->listening);
  // stop_listening() waits for this lock, which tell() holds through its calls.
  state_->listeners.emplace(state_->next_listener, std::move(listener));
  return state_->next_listener++;
}

void Newsroom::stop_listening(std::uint64_t number) {
  const std::lock_guard lock(state_->listening);
  state_->listeners.erase(number);
}

}  // namespace kin::stories
