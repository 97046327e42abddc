// A feed and its items, independent of the format.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stories/date_parser.h"

namespace kin::stories {

enum class FeedFormat { kRss09, kRss10, kRss20, kAtom, kJsonFeed };

// An item as parsed from a feed. Texts are plain UTF-8 on one line and must be escaped for display.
// Addresses are absolute, http or https.
struct FeedItem {
  std::string guid;     // never empty, unique within the feed
  std::string url;      // may be empty
  std::string title;    // never empty: without a title, the start of the summary or the address
  std::string summary;  // may be empty
  std::optional<Time> published;
  bool published_in_future = false;  // the feed gave a later time than the present
  std::string author;                // may be empty
  std::string image;                 // an address; may be empty
};

struct Feed {
  std::string title;  // may be empty
  std::string site;   // address of the site; may be empty
  FeedFormat format = FeedFormat::kRss20;
  std::string charset;          // that the bytes were decoded from
  std::vector<FeedItem> items;  // in the feed's order
  std::string mended;           // the first error of a document that was repaired; else empty
  std::size_t left_out = 0;     // items beyond the limit, without content, or repeated
};

}  // namespace kin::stories
