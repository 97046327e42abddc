#include "stories/feeds/page_links.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/ascii.h"
#include "net/header_fields.h"
#include "stories/feeds/html_scanner.h"
#include "stories/feeds/html_text.h"
#include "text/charset.h"

namespace kin::stories {
namespace {

constexpr std::size_t kMostLinks = 50;
constexpr std::size_t kLongestTitle = 300;

bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    // rel is a list: "alternate home" is an alternate too.
    if (take_until(list, " \t\r\n\f") == word) return true;
  }
  return false;
}

bool is_feed_type(std::string_view type) {
  // Without parameters such as the charset.
  const std::string name = ascii_lowered(type.substr(0, type.find(';')));
  static constexpr std::string_view kTypes[] = {"application/rss+xml",   "application/atom+xml",
                                                "application/feed+json", "application/rdf+xml",
                                                "application/x-rss+xml", "text/rss+xml",
                                                "text/atom+xml"};
  return std::ranges::find(kTypes, name) != std::end(kTypes);
}

bool is_about_comments(const FeedLink& link) {
  return ascii_lowered(link.title).find("comment") != std::string::npos ||
         ascii_lowered(link.url).find("/comments/") != std::string::npos;
}

int size_of(std::string_view sizes) {
  int size = 0;
  std::from_chars(sizes.data(), sizes.data() + sizes.size(), size);
  return size;
}

// Icons are shown at 16 to 32 points. The smallest one that is sharp on a dense screen is best.
int icon_rank(const IconLink& icon) {
  if (icon.size >= 32 && icon.size <= 192) return icon.size;
  // Unknown sizes come after the good ones, then those that are too large, then those that are too
  // small.
  if (icon.size == 0) return 1'000;
  return icon.size > 192 ? 2'000 + icon.size : 100'000 - icon.size;
}

class LinkCollector {
 public:
  explicit LinkCollector(const net::Url& page) : base_(page) {}

  void visit(const HtmlPiece& tag) {
    const auto href = tag.attribute("href");
    if (!href || href->empty()) return;
    // Only the first <base> counts, as in browsers.
    if (tag.name == "base" && !base_seen_) {
      set_base(*href);
      return;
    }
    if (tag.name != "link") return;
    const auto url = base_.resolve(*href);
    if (!url.ok()) return;
    const std::string rel = ascii_lowered(tag.attribute("rel").value_or(""));
    if (has_word(rel, "icon") || has_word(rel, "apple-touch-icon")) add_icon(tag, url->text());
    const bool alternate = has_word(rel, "alternate") || has_word(rel, "feed");
    if (alternate && is_feed_type(tag.attribute("type").value_or(""))) add_feed(tag, url->text());
  }

  PageLinks take() {
    // Stable: the page lists its main feed first.
    std::ranges::stable_sort(links_.feeds, {}, is_about_comments);
    std::ranges::stable_sort(links_.icons, {}, icon_rank);
    return std::move(links_);
  }

 private:
  void set_base(std::string_view href) {
    base_seen_ = true;
    const auto url = base_.resolve(href);
    if (url.ok()) base_ = *url;
  }

  void add_icon(const HtmlPiece& tag, std::string url) {
    add(links_.icons, {std::move(url), size_of(tag.attribute("sizes").value_or(""))});
  }

  void add_feed(const HtmlPiece& tag, std::string url) {
    const std::string title = one_line(tag.attribute("title").value_or(""));
    add(links_.feeds, {std::move(url), clipped(title, kLongestTitle)});
  }
  // Each address once.
  template <typename Link>
  static void add(std::vector<Link>& links, Link link) {
    const bool known = std::ranges::find(links, link.url, &Link::url) != links.end();
    if (!known && links.size() < kMostLinks) links.push_back(std::move(link));
  }

  net::Url base_;
  bool base_seen_ = false;
  PageLinks links_;
};

}  // namespace

PageLinks find_page_links(const net::HttpResponse& response, const net::Url& page) {
  const net::ContentType type = net::parse_content_type(response.header("content-type"));
  const std::string charset = text::html_charset(response.body).value_or("");
  const text::DecodedText html =
      text::decode_text(response.body, {.transport = type.charset, .document = charset});
  return find_page_links(html.utf8, page);
}

PageLinks find_page_links(std::string_view html, const net::Url& page) {
  LinkCollector collector(page);
  HtmlScanner scanner(html);
  HtmlPiece piece;
  while (scanner.next(piece)) {
    if (piece.kind == HtmlPiece::Kind::kOpen) collector.visit(piece);
  }
  return collector.take();
}

std::vector<std::string> common_feed_addresses(const net::Url& page) {
  static constexpr std::string_view kPaths[] = {"/feed",     "/rss",       "/rss.xml",  "/feed.xml",
                                                "/atom.xml", "/index.xml", "/feed.json"};
  std::vector<std::string> found;
  const auto add = [&](std::string_view reference) {
    const auto url = page.resolve(reference);
    if (url.ok() && std::ranges::find(found, url->text()) == found.end())
      found.push_back(url->text());
  };
  const std::string folder = page.path().substr(0, page.path().rfind('/'));
  // The folder of the page comes first: blogs within a larger site have their feeds there.
  if (!folder.empty()) {
    for (const char* name : {"/feed", "/rss.xml", "/atom.xml"}) add(folder + name);
  }
  for (const std::string_view path : kPaths) add(path);
  return found;
}

}  // namespace kin::stories
