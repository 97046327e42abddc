// A feed and its items, whatever format they came in.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stories/date_parser.h"

namespace kin::stories {

enum class FeedFormat { kRss09, kRss10, kRss20, kAtom, kJsonFeed };

// "RSS 2.0" and so on.
std::string_view name_of(FeedFormat format);

// Everything here is plain text in UTF-8 on one line: escape it when it is shown. Addresses are
// absolute, http or https.
struct FeedItem {
  std::string guid;     // never empty, and different for every item of a feed
  std::string url;      // may be empty
  std::string title;    // never empty: the start of the summary, or the address, if there is none
  std::string summary;  // may be empty
  std::optional<Time> published;
  bool published_in_future = false;  // `published` said a time to come and is the present instead
  std::string author;                // may be empty
  std::string image;                 // an address; may be empty
};

struct Feed {
  std::string title;  // may be empty
  std::string site;   // the address of the site it is of; may be empty
  FeedFormat format = FeedFormat::kRss20;
  std::string charset;          // what the bytes were read as
  std::vector<FeedItem> items;  // in the feed's order
  std::string mended;        // what was wrong with the document, if something was and it was read
                             // all the same
  std::size_t left_out = 0;  // items beyond the limit, without any content, or given twice
};

}  // namespace kin::stories
