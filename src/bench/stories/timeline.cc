#include "bench/stories/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>

#include "app/words.h"
#include "base/file.h"
#include "base/json_writer.h"
#include "bench/measure.h"
#include "stories/newsroom.h"
#include "stories/testing/filled_newsroom.h"

namespace kin::bench {
namespace {

using stories::TimelineQuery;
using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
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
      {"search, two common words",
       {.text = stories::made_up_word(0) + " " + stories::made_up_word(1)}},
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
  std::optional<std::filesystem::path> parent;
  if (bench.folder) parent = *bench.folder;
  KIN_TRY(const TemporaryFolder folder, TemporaryFolder::create(parent));
  TimelineFigures figures;
  figures.feeds = bench.feeds;
  figures.items = bench.items;
  figures.runs = bench.runs;
  const std::filesystem::path path = folder.path() / "news.db";
  auto start = Clock::now();
  KIN_RETURN_IF_ERROR(
      stories::fill_newsroom(folder.path(), {.feeds = bench.feeds, .items = bench.items}));
  figures.ingest_seconds = milliseconds_since(start) / 1e3;
  figures.database_megabytes = static_cast<double>(std::filesystem::file_size(path)) / 1e6;
  start = Clock::now();
  KIN_TRY(const auto room, stories::Newsroom::open(folder.path()));
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
      "{} feeds, {} items in {} stories; taken in in {:.1f} s ({:.0f} µs an item), {:.0f} MB; "
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
