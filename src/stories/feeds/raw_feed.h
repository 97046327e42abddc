// A feed between its format's reader and what all formats have in common.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data/json_value.h"
#include "net/url.h"
#include "stories/feed_parser.h"

namespace pugi {
class xml_document;  // NOLINT: the library's name
}

namespace kin::stories {

struct RawItem {
  std::string guid;   // as written
  std::string url;    // absolute, or empty
  std::string title;  // plain text
  std::string summary;
  std::string date;  // as written
  std::string author;
  std::string image;  // absolute, or empty
};

struct RawFeed {
  FeedFormat format = FeedFormat::kRss20;
  std::string title = {};
  std::string site = {};
  std::vector<RawItem> items = {};  // at most as many as the limits allow
  std::size_t left_out = 0;
};

// `reference` as an absolute address by `base`, where there is one; empty if it is none.
std::string absolute(const std::optional<net::Url>& base, std::string_view reference);

// The feed in a document; an error if it is none.
Result<RawFeed> read_xml_feed(const pugi::xml_document& document, const FeedSource& source);
Result<RawFeed> read_json_feed(const data::JsonValue& document, const FeedSource& source);

}  // namespace kin::stories
