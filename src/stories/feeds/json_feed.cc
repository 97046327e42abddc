#include <fmt/format.h>

#include <algorithm>

#include "stories/feeds/format_readers.h"
#include "stories/feeds/html_text.h"

namespace kin::stories {
namespace {

using data::JsonValue;

// Ids should be strings, but some feeds write numbers.
std::string id_text(const JsonValue& value) {
  if (value.number() != nullptr) return fmt::format("{}", *value.number());
  return std::string(value.text());
}

std::string summary_of(const JsonValue& item) {
  for (const char* name : {"summary", "content_text"}) {
    std::string text = one_line(item[name].text());
    if (!text.empty()) return text;
  }
  return html_to_text(item["content_html"].text());
}

std::string author_of(const JsonValue& item) {
  std::string names;
  for (const JsonValue& author : item["authors"].items()) {
    const std::string name = one_line(author["name"].text());
    // Version 1.1 has a list of authors; version 1 had one.
    if (!name.empty()) names.append(names.empty() ? "" : ", ").append(name);
  }
  return names.empty() ? one_line(item["author"]["name"].text()) : names;
}

std::string first_text(const JsonValue& item, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (!item[name].text().empty()) return std::string(item[name].text());
  }
  return {};
}

FeedItem read_item(const JsonValue& item, const std::optional<net::Url>& base, Time now) {
  FeedItem out;
  out.guid = id_text(item["id"]);
  out.url = make_absolute(base, first_text(item, {"url", "external_url"}));
  // The format says that titles are plain text.
  out.title = one_line(item["title"].text());
  out.summary = summary_of(item);
  out.author = author_of(item);
  out.image = make_absolute(base, first_text(item, {"image", "banner_image"}));
  set_date(out, first_text(item, {"date_published", "date_modified"}), now);
  return out;
}

}  // namespace

Result<Feed> read_json_feed(const JsonValue& document, const FeedSource& source) {
  const bool says_so = document["version"].text().find("jsonfeed.org") != std::string_view::npos;
  // Some feeds forget the version. Their list of items tells them from other JSON.
  if (document.object() == nullptr || (!says_so && document["items"].items().empty()))
    return Error{Code::kInvalidArgument, "this JSON is not a feed: it has no version and no items"};
  const auto parsed = net::Url::parse(source.address);
  std::optional<net::Url> base = parsed.ok() ? std::optional(*parsed) : std::nullopt;
  Feed feed;
  feed.format = FeedFormat::kJsonFeed;
  feed.title = one_line(document["title"].text());
  feed.site = make_absolute(base, document["home_page_url"].text());
  const auto& items = document["items"].items();
  const std::size_t kept = std::min(items.size(), source.limits.items);
  for (std::size_t i = 0; i < kept; ++i)
    feed.items.push_back(read_item(items[i], base, source.now));
  feed.left_out = items.size() - kept;
  return feed;
}

}  // namespace kin::stories
