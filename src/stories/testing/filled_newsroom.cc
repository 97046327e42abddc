#include "stories/testing/filled_newsroom.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "base/random.h"
#include "stories/newsroom/writer.h"

namespace kin::stories {
namespace {

constexpr std::uint64_t kDays = 90;
constexpr Time kFirstDay = std::chrono::sys_days(std::chrono::year(2026) / 1 / 1);

std::string common_words(std::size_t count, Random& random) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    const double share = static_cast<double>(random.below(1'000'000)) / 1e6;
    text += (i == 0 ? "" : " ") + made_up_word(static_cast<std::uint64_t>(share * share * 30'000));
  }
  return text;
}

// Headlines of one event share names that no other event has.
FeedItem headline(std::uint64_t event, std::uint64_t number, Random& random) {
  FeedItem item;
  for (std::uint64_t name = 0; name < 4; ++name) {
    std::string text = made_up_word(50'000 + event * 4 + name);
    text[0] = static_cast<char>(text[0] - 'a' + 'A');
    item.title += text + " ";
  }
  item.title += common_words(3 + random.below(3), random);
  item.summary = common_words(25, random);
  item.guid = item.url = fmt::format("https://news.example/{}", number);
  return item;
}

Status add_feeds(NewsWriter& writer, std::uint64_t count, std::vector<FeedId>& feeds) {
  NewsEvent event;
  for (std::uint64_t i = 0; i < count; ++i) {
    KIN_TRY(const auto feed,
            writer.add_feed({.url = fmt::format("https://feed{}.example/", i),
                             .title = fmt::format("Feed {}", i),
                             .feed_title = {},
                             .site = {},
                             .folder = fmt::format("Folder {}", i % kFilledFolders),
                             .credentials = {}},
                            kFirstDay, event));
    feeds.push_back(feed);
  }
  return Done{};
}

// Polls each feed once a day.
Status ingest(NewsWriter& writer, const FillOptions& options) {
  KIN_RETURN_IF_ERROR(writer.database().run_script("PRAGMA synchronous = OFF;"));
  std::vector<FeedId> feeds;
  KIN_RETURN_IF_ERROR(add_feeds(writer, options.feeds, feeds));
  Random random(11);
  std::uint64_t number = 0;
  for (std::uint64_t day = 0; day < kDays; ++day) {
    const Time morning = kFirstDay + std::chrono::hours(24 * day);
    for (std::uint64_t i = 0; i < feeds.size(); ++i) {
      const std::uint64_t until =
          options.items * (day * feeds.size() + i + 1) / (kDays * feeds.size());
      Poll poll;
      poll.outcome = Poll::Outcome::kItems;
      poll.next.url = fmt::format("https://feed{}.example/", i);
      for (; number < until; ++number) {
        const std::uint64_t event =
            day * (options.items / kDays / 2) +
            random.below(std::max<std::uint64_t>(options.items / kDays / 2, 1));
        poll.feed.items.push_back(headline(event, number, random));
        poll.feed.items.back().published = morning + std::chrono::seconds(random.below(86'400));
      }
      NewsEvent event;
      KIN_RETURN_IF_ERROR(
          writer.take_poll(feeds[i], poll, morning + std::chrono::hours(24), event));
    }
  }
  return Done{};
}

}  // namespace

std::string made_up_word(std::uint64_t number) {
  constexpr const char* kSyllables[] = {"ba",  "lor", "min", "tek", "sa",  "run", "vol", "pri",
                                        "gan", "dus", "fel", "ko",  "nar", "shi", "wem", "zu"};
  std::string text = kSyllables[number % 16];
  for (std::uint64_t rest = number / 16 + 1; rest > 0; rest /= 16) text += kSyllables[rest % 16];
  return text;
}

Status fill_newsroom(const std::filesystem::path& folder, const FillOptions& options) {
  KIN_TRY(const auto writer, NewsWriter::open(folder / "news.db", {}));
  return ingest(*writer, options);
}

}  // namespace kin::stories
