#include "bench/stories/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>

#include "app/words.h"
#include "base/file.h"
#include "base/json_writer.h"
#include "base/random.h"
#include "bench/measure.h"
#include "stories/newsroom.h"
#include "stories/testing/news_filler.h"

namespace kin::bench {
namespace {

using stories::FeedItem;
using stories::NewsFiller;
using stories::TimelineQuery;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kDays = 90;
constexpr stories::Time kFirstDay = std::chrono::sys_days(std::chrono::year(2026) / 1 / 1);
constexpr std::uint64_t kFolders = 20;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// Synthetic words; lower numbers are more common.
std::string word(std::uint64_t number) {
  constexpr const char* kSyllables[] = {"ba",  "lor", "min", "tek", "sa",  "run", "vol", "pri",
                                        "gan", "dus", "fel", "ko",  "nar", "shi", "wem", "zu"};
  std::string text = kSyllables[number % 16];
  for (std::uint64_t rest = number / 16 + 1; rest > 0; rest /= 16) text += kSyllables[rest % 16];
  return text;
}

std::string common_words(std::size_t count, Random& random) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    const double share = static_cast<double>(random.below(1'000'000)) / 1e6;
    // Squared, so that low numbers are frequent.
    text += (i == 0 ? "" : " ") + word(static_cast<std::uint64_t>(share * share * 30'000));
  }
  return text;
}

// Headlines of one event share names that no other event has.
FeedItem headline(std::uint64_t event, std::uint64_t number, Random& random) {
  FeedItem item;
  for (std::uint64_t name = 0; name < 4; ++name) {
    std::string text = word(50'000 + event * 4 + name);
    text[0] = static_cast<char>(text[0] - 'a' + 'A');
    item.title += text + " ";
  }
  item.title += common_words(3 + random.below(3), random);
  item.summary = common_words(25, random);
  item.guid = item.url = fmt::format("https://news.example/{}", number);
  return item;
}

std::string address_of(std::uint64_t feed) {
  return fmt::format("https://feed{}.example/", feed);
}

// Every feed is polled once a day, and has two or three new items if there are 100,000 in all.
Status ingest(NewsFiller& filler, const TimelineBench& bench) {
  std::vector<stories::FeedId> feeds;
  for (std::uint64_t i = 0; i < bench.feeds; ++i) {
    KIN_TRY(const auto feed, filler.add_feed(address_of(i), fmt::format("Feed {}", i),
                                             fmt::format("Folder {}", i % kFolders), kFirstDay));
    feeds.push_back(feed);
  }
  Random random(11);
  std::uint64_t number = 0;
  for (std::uint64_t day = 0; day < kDays; ++day) {
    const stories::Time morning = kFirstDay + std::chrono::hours(24 * day);
    for (std::uint64_t i = 0; i < feeds.size(); ++i) {
      const std::uint64_t until =
          bench.items * (day * feeds.size() + i + 1) / (kDays * feeds.size());
      std::vector<FeedItem> items;
      for (; number < until; ++number) {
        // Half as many events as items a day, so that a story has two headlines on average.
        const std::uint64_t event =
            day * (bench.items / kDays / 2) +
            random.below(std::max<std::uint64_t>(bench.items / kDays / 2, 1));
        items.push_back(headline(event, number, random));
        items.back().published = morning + std::chrono::seconds(random.below(86'400));
      }
      KIN_RETURN_IF_ERROR(filler.add_items(feeds[i], address_of(i), std::move(items),
                                           morning + std::chrono::hours(24)));
    }
  }
  return Done{};
}

// `read` returns how many stories are on the page.
Result<TimelineFigures::Reading> measure(const std::string& what, int runs,
                                         const std::function<Result<std::uint64_t>()>& read) {
  TimelineFigures::Reading reading{.what = what};
  std::vector<double> spent;
  for (int run = 0; run < runs; ++run) {
    const auto start = Clock::now();
    KIN_TRY(reading.stories, read());
    spent.push_back(milliseconds_since(start));
  }
  reading.median_milliseconds = median(spent);
  reading.worst_milliseconds = *std::ranges::max_element(spent);
  return reading;
}

Status measure_all(const stories::Newsroom& room, int runs, TimelineFigures& figures) {
  KIN_TRY(const auto first, room.timeline({.limit = 200}));
  const std::string tenth_page = first.next;
  KIN_TRY(const auto some, room.timeline({.limit = 1}));
  const std::string& title = some.stories.at(0).representative.title;
  const std::pair<const char*, TimelineQuery> queries[] = {
      {"first page", {}},
      {"a page further down", {.before = tenth_page}},
      {"unread only", {.unread_only = true}},
      {"one feed", {.feed = stories::FeedId{7}}},
      {"a folder of 25 feeds", {.folder = "Folder 7"}},
      {"search, a rare word", {.text = title.substr(0, title.find(' '))}},
      {"search, two common words", {.text = word(0) + " " + word(1)}},
      {"search, a common beginning", {.text = "ba"}},
  };
  for (const auto& [what, query] : queries) {
    KIN_TRY(auto reading, measure(what, runs, [&]() -> Result<std::uint64_t> {
              KIN_TRY(const auto page, room.timeline(query));
              return page.stories.size();
            }));
    figures.readings.push_back(std::move(reading));
  }
  KIN_TRY(auto reading,
          measure("all feeds with their unread counts", runs, [&]() -> Result<std::uint64_t> {
            KIN_RETURN_IF_ERROR(room.feeds());
            return 0;
          }));
  figures.readings.push_back(std::move(reading));
  return Done{};
}

}  // namespace

Result<TimelineFigures> bench_timeline(const TimelineBench& bench) {
  KIN_TRY(const TemporaryFolder folder, TemporaryFolder::create(bench.folder));
  TimelineFigures figures;
  figures.feeds = bench.feeds;
  figures.items = bench.items;
  figures.runs = bench.runs;
  const std::filesystem::path path = folder.path() / "news.db";
  auto start = Clock::now();
  {
    KIN_TRY(NewsFiller filler, NewsFiller::open(path));
    KIN_RETURN_IF_ERROR(ingest(filler, bench));
  }
  figures.ingest_seconds = milliseconds_since(start) / 1e3;
  figures.database_megabytes = static_cast<double>(std::filesystem::file_size(path)) / 1e6;
  start = Clock::now();
  KIN_TRY(const auto room, stories::Newsroom::open(folder.path(), kin::system_clock()));
  figures.open_milliseconds = milliseconds_since(start);
  KIN_TRY(const auto top, room->timeline({}));
  figures.stories = top.unread;
  KIN_RETURN_IF_ERROR(measure_all(*room, bench.runs, figures));
  start = Clock::now();
  KIN_RETURN_IF_ERROR(room->mark_read({}));
  figures.mark_read_milliseconds = milliseconds_since(start);
  KIN_TRY(const auto problems, room->check());
  if (problems.empty()) return figures;
  return Error{Code::kInternal, "the database contradicts itself: " + problems.front()};
}

std::string to_json(const TimelineFigures& figures) {
  JsonWriter json(2);
  json.begin_object().field("bench", "timeline").field("feeds", figures.feeds);
  json.field("items", figures.items).field("stories", figures.stories);
  json.field("ingest_seconds", figures.ingest_seconds);
  json.field("database_megabytes", figures.database_megabytes);
  json.field("open_milliseconds", figures.open_milliseconds);
  json.field("mark_read_milliseconds", figures.mark_read_milliseconds);
  json.field("runs", figures.runs).key("readings").begin_array();
  for (const auto& reading : figures.readings) {
    json.begin_object().field("what", reading.what).field("stories", reading.stories);
    json.field("median_milliseconds", reading.median_milliseconds);
    json.field("worst_milliseconds", reading.worst_milliseconds).end();
  }
  return json.end().end().take();
}

std::string to_table(const TimelineFigures& figures) {
  std::string table = fmt::format(
      "{} feeds, {} items in {} stories; ingested in {:.1f} s ({:.0f} µs an item), {:.0f} MB; "
      "opened in {:.0f} ms\n\n  {:<38}{:>12}{:>12}{:>10}\n",
      app::with_commas(figures.feeds), app::with_commas(figures.items),
      app::with_commas(figures.stories), figures.ingest_seconds,
      1e6 * figures.ingest_seconds / static_cast<double>(figures.items), figures.database_megabytes,
      figures.open_milliseconds, fmt::format("median of {}", figures.runs), "median ms", "worst ms",
      "stories");
  for (const auto& reading : figures.readings)
    table += fmt::format("  {:<38}{:>12.2f}{:>12.2f}{:>10}\n", reading.what,
                         reading.median_milliseconds, reading.worst_milliseconds, reading.stories);
  table += fmt::format("\n  all stories marked as read at once: {:.0f} ms\n",
                       figures.mark_read_milliseconds);
  return table;
}

}  // namespace kin::bench
