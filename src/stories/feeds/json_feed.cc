#include <fmt/format.h>

#include <algorithm>

#include "stories/feeds/html_text.h"
#include "stories/feeds/raw_feed.h"

namespace kin::stories {
namespace {

using data::JsonValue;

// Ids ought to be strings and are numbers at times.
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

RawItem item_of(const JsonValue& item, const std::optional<net::Url>& base) {
  return {.guid = id_text(item["id"]),
          .url = absolute(base, first_text(item, {"url", "external_url"})),
          .title = feed_text(item["title"].text()),
          .summary = summary_of(item),
          .date = first_text(item, {"date_published", "date_modified"}),
          .author = author_of(item),
          .image = absolute(base, first_text(item, {"image", "banner_image"}))};
}

}  // namespace

Result<RawFeed> read_json_feed(const JsonValue& document, const FeedSource& source) {
  const bool says_so = document["version"].text().find("jsonfeed.org") != std::string_view::npos;
  if (document.object() == nullptr || (!says_so && document["items"].items().empty()))
    return Error{Code::kInvalidArgument,
                 "this JSON is no feed: it has neither a version nor items"};
  const auto parsed = net::Url::parse(source.address);
  std::optional<net::Url> base = parsed.ok() ? std::optional(*parsed) : std::nullopt;
  RawFeed feed{.format = FeedFormat::kJsonFeed, .title = feed_text(document["title"].text())};
  feed.site = absolute(base, document["home_page_url"].text());
  const auto& items = document["items"].items();
  const std::size_t kept = std::min(items.size(), source.limits.items);
  for (std::size_t i = 0; i < kept; ++i) feed.items.push_back(item_of(items[i], base));
  feed.left_out = items.size() - kept;
  return feed;
}

}  // namespace kin::stories
