#include "stories/feed_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <pugixml.hpp>
#include <unordered_map>
#include <unordered_set>

#include "base/ascii.h"
#include "base/hash.h"
#include "net/header_fields.h"
#include "stories/feeds/html_text.h"
#include "stories/feeds/raw_feed.h"
#include "stories/feeds/xml_text.h"
#include "text/charset.h"

namespace kin::stories {
namespace {

constexpr Time kEarliest = std::chrono::sys_days(std::chrono::year(1971) / 1 / 1);

std::string_view start_of(std::string_view bytes) {
  const std::size_t at = bytes.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  return at == std::string_view::npos ? std::string_view() : bytes.substr(at);
}

bool is_json(const FeedSource& source, const net::ContentType& type) {
  const std::string_view start = start_of(source.bytes);
  return start.starts_with('{') || start.starts_with('[') ||
         (type.type.ends_with("json") && !start.starts_with('<'));
}

struct Read {
  RawFeed raw;
  std::string charset;
  std::string mended;
};

Error broken_at(std::string_view place) {
  return {Code::kInvalidArgument, fmt::format("the XML is broken at {}", place)};
}

Result<Read> read_json(const FeedSource& source, std::string_view charset) {
  const text::DecodedText decoded = text::decode_text(source.bytes, {.transport = charset});
  KIN_TRY(const data::JsonValue document, data::parse_json(decoded.utf8));
  KIN_TRY(RawFeed raw, read_json_feed(document, source));
  return Read{std::move(raw), decoded.charset, ""};
}

Result<Read> read_xml(const FeedSource& source, std::string_view charset) {
  KIN_TRY(const LoadedXml loaded, load_xml({.bytes = source.bytes, .charset = charset}));
  auto raw = read_xml_feed(*loaded.document, source);
  if (!raw.ok()) return loaded.mended.empty() ? raw.error() : broken_at(loaded.mended);
  return Read{std::move(*raw), loaded.charset, loaded.mended};
}

// Turns what a reader found into items that keep their promises.
class ItemFinisher {
 public:
  ItemFinisher(const FeedSource& source, std::vector<RawItem>& items)
      : limits_(source.limits), now_(source.now) {
    for (const RawItem& item : items) count_guid(item);
  }

  // Nothing if the item has no content, or was seen before.
  std::optional<FeedItem> finish(RawItem raw) {
    if (raw.url.size() > limits_.url) raw.url.clear();
    if (raw.image.size() > limits_.url) raw.image.clear();
    if (raw.title.empty() && raw.summary.empty() && raw.url.empty()) return std::nullopt;
    FeedItem item;
    item.guid = guid_of(raw);
    if (!taken_.insert(item.guid).second) return std::nullopt;
    set_date(raw, item);
    item.title = clipped(title_of(raw), limits_.title);
    item.summary = clipped(std::move(raw.summary), limits_.summary);
    item.author = clipped(std::move(raw.author), limits_.author);
    item.url = std::move(raw.url);
    item.image = std::move(raw.image);
    return item;
  }

 private:
  // What tells two items with one guid apart.
  static const std::string& difference(const RawItem& item) {
    return item.url.empty() ? item.title : item.url;
  }

  void count_guid(const RawItem& item) {
    if (item.guid.empty()) return;
    const auto [entry, is_new] = differences_.try_emplace(item.guid, difference(item));
    if (!is_new && entry->second != difference(item)) shared_.insert(item.guid);
  }

  std::string guid_of(const RawItem& item) const {
    std::string guid = one_line(item.guid);
    if (guid.empty()) guid = item.url;
    if (guid.empty()) return hashed(item.title + '\n' + item.summary);
    if (shared_.contains(item.guid)) guid.append(" ").append(difference(item));
    return guid.size() > limits_.guid ? hashed(guid) : guid;
  }

  static std::string hashed(std::string_view text) {
    return fmt::format("hash:{:016x}", hash64(text));
  }

  static std::string title_of(const RawItem& item) {
    constexpr std::size_t kFromSummary = 120;
    if (!item.title.empty()) return item.title;
    return item.summary.empty() ? item.url : clipped(item.summary, kFromSummary);
  }

  void set_date(const RawItem& raw, FeedItem& item) const {
    const auto date = parse_date(raw.date);
    if (!date || *date < kEarliest) return;
    item.published_in_future = *date > now_;
    item.published = std::min(*date, now_);
  }

  const FeedLimits limits_;
  const Time now_;
  std::unordered_map<std::string, std::string> differences_;  // of the first item with a guid
  std::unordered_set<std::string> shared_;                    // guids of different items
  std::unordered_set<std::string> taken_;
};

Feed finish(Read read, const FeedSource& source) {
  Feed feed{.title = clipped(std::move(read.raw.title), source.limits.title),
            .site = std::move(read.raw.site),
            .format = read.raw.format,
            .charset = std::move(read.charset),
            .items = {},
            .mended = std::move(read.mended),
            .left_out = read.raw.left_out};
  if (feed.site.size() > source.limits.url) feed.site.clear();
  ItemFinisher finisher(source, read.raw.items);
  for (RawItem& raw : read.raw.items) {
    auto item = finisher.finish(std::move(raw));
    if (item)
      feed.items.push_back(std::move(*item));
    else
      ++feed.left_out;
  }
  return feed;
}

}  // namespace

std::string_view name_of(FeedFormat format) {
  switch (format) {
    case FeedFormat::kRss09: return "RSS 0.9";
    case FeedFormat::kRss10: return "RSS 1.0";
    case FeedFormat::kRss20: return "RSS 2.0";
    case FeedFormat::kAtom: return "Atom";
    case FeedFormat::kJsonFeed: return "JSON Feed";
  }
  KIN_UNREACHABLE();
}

bool looks_like_html(std::string_view bytes) {
  const std::string start = ascii_lowered(bytes.substr(0, 1024));
  const std::string_view text = start_of(start);
  // The texts of a JSON Feed may quote a page.
  if (text.starts_with('{') || text.starts_with('[')) return false;
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
  auto read =
      is_json(source, type) ? read_json(source, type.charset) : read_xml(source, type.charset);
  if (!read.ok()) return read.error();
  Feed feed = finish(std::move(*read), source);
  // A document that had to be mended and yields nothing was broken, not empty.
  if (!feed.mended.empty() && feed.items.empty()) return broken_at(feed.mended);
  return feed;
}

}  // namespace kin::stories
