// Items parsed from any bytes keep the contract of feed.h.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string_view>

#include "stories/feed_parser.h"
#include "stories/feeds/xml_text.h"
#include "text/normalize.h"

namespace {

using namespace kin::stories;

void require(bool truth) {
  if (!truth) std::abort();
}

void check_text(const std::string& text, std::size_t most) {
  require(text.size() <= most && kin::text::is_valid_utf8(text));
  require(std::none_of(text.begin(), text.end(), [](char c) { return c >= 0 && c < 0x20; }));
}

void check_address(const std::string& url) {
  require(url.empty() || url.starts_with("http://") || url.starts_with("https://"));
  require(url.find_first_of("\"<> ") == std::string::npos);
}

void check(const Feed& feed, const FeedLimits& limits, Time now) {
  check_text(feed.title, limits.title);
  check_address(feed.site);
  std::set<std::string> guids;
  for (const FeedItem& item : feed.items) {
    require(!item.title.empty() && !item.guid.empty() && guids.insert(item.guid).second);
    require(!item.published || *item.published <= now);
    check_text(item.title, limits.title);
    check_text(item.summary, limits.summary);
    check_text(item.author, limits.author);
    check_text(item.guid, limits.guid);
    check_address(item.url);
    check_address(item.image);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const Time now = std::chrono::sys_days(std::chrono::year(2024) / 3 / 6);
  const FeedSource source{
      .bytes = input, .address = "https://example.com/feed", .now = now, .limits = {.title = 100}};
  const auto feed = parse_feed(source);
  if (feed.ok()) check(*feed, source.limits, now);
  (void)mend_xml(input);
  return 0;
}
