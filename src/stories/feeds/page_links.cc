#include "stories/feeds/page_links.h"

#include <algorithm>
#include <charconv>

#include "base/ascii.h"
#include "stories/feeds/html_scanner.h"
#include "stories/feeds/html_text.h"

namespace kin::stories {
namespace {

constexpr std::size_t kMostLinks = 50;
constexpr std::size_t kLongestTitle = 300;

bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find_first_of(" \t\r\n\f"), list.size());
    if (list.substr(0, end) == word) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

bool is_feed_type(std::string_view type) {
  const std::string name = ascii_lowered(type.substr(0, type.find(';')));
  static constexpr std::string_view kTypes[] = {"application/rss+xml",   "application/atom+xml",
                                                "application/feed+json", "application/rdf+xml",
                                                "application/x-rss+xml", "text/rss+xml",
                                                "text/atom+xml"};
  return std::find(std::begin(kTypes), std::end(kTypes), std::string_view(name)) !=
         std::end(kTypes);
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
  if (icon.size == 0) return 1'000;
  return icon.size > 192 ? 2'000 + icon.size : 100'000 - icon.size;
}

class LinkCollector {
 public:
  explicit LinkCollector(const net::Url& page) : base_(page) {}

  void visit(const HtmlPiece& tag) {
    const auto href = tag.attribute("href");
    if (!href || href->empty()) return;
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
    std::stable_partition(links_.feeds.begin(), links_.feeds.end(),
                          [](const FeedLink& link) { return !is_about_comments(link); });
    std::stable_sort(
        links_.icons.begin(), links_.icons.end(),
        [](const IconLink& a, const IconLink& b) { return icon_rank(a) < icon_rank(b); });
    return std::move(links_);
  }

  void set_title(std::string_view text) {
    if (links_.title.empty()) links_.title = clipped(feed_text(text), kLongestTitle);
  }

 private:
  void set_base(std::string_view href) {
    base_seen_ = true;
    const auto url = base_.resolve(href);
    if (url.ok()) base_ = *url;
  }

  void add_icon(const HtmlPiece& tag, std::string url) {
    const IconLink icon{std::move(url), size_of(tag.attribute("sizes").value_or(""))};
    const bool known = std::any_of(links_.icons.begin(), links_.icons.end(),
                                   [&](const IconLink& other) { return other.url == icon.url; });
    if (!known && links_.icons.size() < kMostLinks) links_.icons.push_back(icon);
  }

  void add_feed(const HtmlPiece& tag, std::string url) {
    const std::string title = one_line(tag.attribute("title").value_or(""));
    const FeedLink feed{std::move(url), clipped(title, kLongestTitle)};
    const bool known = std::any_of(links_.feeds.begin(), links_.feeds.end(),
                                   [&](const FeedLink& other) { return other.url == feed.url; });
    if (!known && links_.feeds.size() < kMostLinks) links_.feeds.push_back(feed);
  }

  net::Url base_;
  bool base_seen_ = false;
  PageLinks links_;
};

}  // namespace

PageLinks find_page_links(std::string_view html, const net::Url& page) {
  LinkCollector collector(page);
  HtmlScanner scanner(html);
  HtmlPiece piece;
  bool in_title = false;
  while (scanner.next(piece)) {
    if (piece.kind == HtmlPiece::Kind::kText) {
      if (in_title) collector.set_title(piece.text);
      continue;
    }
    in_title = piece.kind == HtmlPiece::Kind::kOpen && piece.name == "title";
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
    if (url.ok() && std::find(found.begin(), found.end(), url->text()) == found.end())
      found.push_back(url->text());
  };
  const std::string folder = page.path().substr(0, page.path().rfind('/'));
  if (!folder.empty()) {
    add(folder + "/feed");
    add(folder + "/rss.xml");
    add(folder + "/atom.xml");
  }
  for (const std::string_view path : kPaths) add(path);
  return found;
}

}  // namespace kin::stories
