#include "stories/feed_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <pugixml.hpp>
#include <unordered_map>
#include <unordered_set>

#include "base/ascii.h"
#include "base/hash.h"
#include "net/header_fields.h"
#include "stories/feeds/format_readers.h"
#include "stories/feeds/html_text.h"
#include "stories/feeds/xml_text.h"
#include "text/charset.h"

namespace kin::stories {
namespace {

// Times near 1970 are those of programs that had no date.
constexpr Time kEarliest = std::chrono::sys_days(std::chrono::year(1971) / 1 / 1);

std::string_view start_of(std::string_view bytes) {
  // Past blank lines and a byte order mark.
  const std::size_t at = bytes.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  return at == std::string_view::npos ? std::string_view() : bytes.substr(at);
}

bool is_json(const FeedSource& source, const net::ContentType& type) {
  const std::string_view start = start_of(source.bytes);
  // The bytes say more than the declared type, which is often wrong.
  return start.starts_with('{') || start.starts_with('[') ||
         (type.type.ends_with("json") && !start.starts_with('<'));
}

Error broken_at(std::string_view place) {
  return {Code::kInvalidArgument, fmt::format("the XML is broken at {}", place)};
}

Result<Feed> read_json(const FeedSource& source, std::string_view charset) {
  const text::DecodedText decoded = text::decode_text(source.bytes, {.transport = charset});
  KIN_TRY(const data::JsonValue document, data::parse_json(decoded.utf8));
  KIN_TRY(Feed feed, read_json_feed(document, source));
  feed.charset = decoded.charset;
  return feed;
}

Result<Feed> read_xml(const FeedSource& source, std::string_view charset) {
  KIN_TRY(const LoadedXml loaded, load_xml({.bytes = source.bytes, .charset = charset}));
  auto feed = read_xml_feed(*loaded.document, source);
  // If repairing was needed, the fault in the XML is the likelier cause.
  if (!feed.ok()) return loaded.mended.empty() ? feed.error() : broken_at(loaded.mended);
  feed->charset = loaded.charset;
  feed->mended = loaded.mended;
  return feed;
}

// Completes items from a reader, so that they keep the contract of FeedItem.
class ItemFinisher {
 public:
  ItemFinisher(const FeedLimits& limits, const std::vector<FeedItem>& items) : limits_(limits) {
    // All items are looked at first: whether a guid is shared is not known before.
    for (const FeedItem& item : items) count_guid(item);
  }

  // False if the item must be left out: it has no content, or is a repetition.
  bool finish(FeedItem& item) {
    if (item.url.size() > limits_.url) item.url.clear();
    if (item.image.size() > limits_.url) item.image.clear();
    if (item.title.empty() && item.summary.empty() && item.url.empty()) return false;
    item.guid = make_guid(item);
    // A repetition of an item that is already kept.
    if (!taken_.insert(item.guid).second) return false;
    item.title = clipped(make_title(item), limits_.title);
    item.summary = clipped(std::move(item.summary), limits_.summary);
    item.author = clipped(std::move(item.author), limits_.author);
    return true;
  }

 private:
  // The text that distinguishes two items with one guid.
  static const std::string& difference(const FeedItem& item) {
    return item.url.empty() ? item.title : item.url;
  }

  void count_guid(const FeedItem& item) {
    if (item.guid.empty()) return;
    // Some programs give every item the same guid, such as the address of the site.
    const auto [first, is_new] = differences_.try_emplace(item.guid, difference(item));
    if (!is_new && first->second != difference(item)) shared_.insert(item.guid);
  }

  std::string make_guid(const FeedItem& item) const {
    std::string guid = one_line(item.guid);
    if (guid.empty()) guid = item.url;
    // Without guid and address, an item whose text changes counts as a new one.
    if (guid.empty()) return hashed(item.title + '\n' + item.summary);
    if (shared_.contains(item.guid)) guid.append(" ").append(difference(item));
    // A hash and not a prefix: long guids often differ at the end.
    return guid.size() > limits_.guid ? hashed(guid) : guid;
  }

  static std::string hashed(std::string_view text) {
    return fmt::format("hash:{:016x}", hash64(text));
  }

  static std::string make_title(const FeedItem& item) {
    constexpr std::size_t kFromSummary = 120;
    if (!item.title.empty()) return item.title;
    return item.summary.empty() ? item.url : clipped(item.summary, kFromSummary);
  }

  const FeedLimits limits_;
  std::unordered_map<std::string, std::string> differences_;  // of the first item with a guid
  std::unordered_set<std::string> shared_;                    // guids of different items
  std::unordered_set<std::string> taken_;
};

void finish(Feed& feed, const FeedLimits& limits) {
  feed.title = clipped(std::move(feed.title), limits.title);
  if (feed.site.size() > limits.url) feed.site.clear();
  // Guids are counted before items are moved out of the list.
  ItemFinisher finisher(limits, feed.items);
  std::vector<FeedItem> kept;
  for (FeedItem& item : feed.items) {
    if (finisher.finish(item)) kept.push_back(std::move(item));
  }
  feed.left_out += feed.items.size() - kept.size();
  feed.items = std::move(kept);
}

}  // namespace

void set_date(FeedItem& item, std::string_view text, Time now) {
  const auto date = parse_date(text);
  if (!date || *date < kEarliest) return;
  item.published_in_future = *date > now;
  // A date in the future would keep the item on top of the timeline, and close all other stories.
  item.published = std::min(*date, now);
}

bool looks_like_html(std::string_view bytes) {
  // Enough for a doctype or a comment in front.
  const std::string start = ascii_lowered(bytes.substr(0, 1024));
  const std::string_view text = start_of(start);
  // The texts of a JSON Feed may quote a page.
  if (text.starts_with('{') || text.starts_with('[')) return false;
  // Feeds may quote HTML near their start.
  const bool is_feed = text.find("<rss") != std::string_view::npos ||
                       text.find("<feed") != std::string_view::npos ||
                       text.find("<rdf:rdf") != std::string_view::npos;
  return !is_feed && (text.find("<!doctype html") != std::string_view::npos ||
                      text.find("<html") != std::string_view::npos);
}

Result<Feed> parse_feed(const FeedSource& source) {
  if (source.bytes.size() > source.limits.bytes)
    return Error{Code::kResourceExhausted,
                 fmt::format("the feed has {} bytes, more than the {} allowed", source.bytes.size(),
                             source.limits.bytes)};
  if (start_of(source.bytes).empty())
    return Error{Code::kInvalidArgument, "the answer is empty, there is no feed in it"};
  if (looks_like_html(source.bytes))
    return Error{Code::kInvalidArgument, "this is a web page, not a feed"};
  const net::ContentType type = net::parse_content_type(source.content_type);
  KIN_TRY(Feed feed,
          is_json(source, type) ? read_json(source, type.charset) : read_xml(source, type.charset));
  finish(feed, source.limits);
  // A repaired document without items was broken, not empty.
  if (!feed.mended.empty() && feed.items.empty()) return broken_at(feed.mended);
  return feed;
}

}  // namespace kin::stories
