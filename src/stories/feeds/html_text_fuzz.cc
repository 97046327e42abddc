// Text made of any HTML is valid UTF-8, on one line, and without controls; so are links found in
// it.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "net/url.h"
#include "stories/feeds/html_text.h"
#include "stories/feeds/page_links.h"
#include "text/normalize.h"

namespace {

void require(bool truth) {
  if (!truth) std::abort();
}

void check_text(const std::string& text) {
  require(kin::text::is_valid_utf8(text));
  require(std::none_of(text.begin(), text.end(), [](char c) { return c >= 0 && c < 0x20; }));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  check_text(kin::stories::html_to_text(input));
  const std::string title = kin::stories::feed_text(input);
  check_text(title);
  const std::string cut = kin::stories::clipped(title, 20);
  require(cut.size() <= 20 && kin::text::is_valid_utf8(cut));
  static const auto base = kin::net::Url::parse("https://example.com/");
  const auto links = kin::stories::find_page_links(input, *base);
  for (const auto& feed : links.feeds) {
    require(feed.url.starts_with("http"));
    check_text(feed.title);
  }
  for (const auto& icon : links.icons) require(icon.url.starts_with("http"));
  return 0;
}
