// Feeds that were read from any bytes are the same after writing and reading them back.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <tuple>

#include "stories/feeds/html_text.h"
#include "stories/opml.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto opml = kin::stories::parse_opml({reinterpret_cast<const char*>(data), size});
  if (!opml.ok()) return 0;
  auto again = kin::stories::parse_opml(kin::stories::write_opml(*opml));
  if (!again.ok()) std::abort();
  // A feed without a title gets its address; folders bring feeds together.
  const auto tidy = [](std::vector<kin::stories::OpmlFeed>& feeds) {
    for (auto& feed : feeds) {
      if (feed.title.empty()) feed.title = kin::stories::one_line(feed.url);
    }
    std::sort(feeds.begin(), feeds.end(), [](const auto& a, const auto& b) {
      return std::tie(a.folders, a.url, a.title, a.site) <
             std::tie(b.folders, b.url, b.title, b.site);
    });
  };
  tidy(opml->feeds);
  tidy(again->feeds);
  const bool long_titles = std::any_of(opml->feeds.begin(), opml->feeds.end(),
                                       [](const auto& feed) { return feed.title.size() >= 500; });
  if (!long_titles && opml->feeds != again->feeds) std::abort();
  return 0;
}
