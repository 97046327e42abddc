// Parser for RSS 0.9x, 1.0 and 2.0, Atom 0.3 and 1.0, and JSON Feed, as real feeds are written.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"
#include "stories/feeds/feed.h"

namespace kin::stories {

struct FeedLimits {
  std::size_t bytes = std::size_t{32} << 20;  // of the document
  std::size_t items = 1'000;                  // further ones are left out
  std::size_t title = 500;                    // bytes; longer titles are clipped
  std::size_t summary = 4'000;                // bytes; likewise
  std::size_t author = 200;                   // bytes; likewise
  std::size_t guid = 1'000;                   // bytes; longer guids become their hash
  std::size_t url = 4'000;                    // bytes; longer addresses are dropped
};

struct FeedSource {
  std::string_view bytes;
  std::string_view content_type = {};  // the HTTP header; may be empty
  std::string_view address = {};       // of the feed, to resolve relative links; may be empty
  Time now = {};                       // replaces dates in the future
  FeedLimits limits = {};
};

// Reads a feed in any charset and format. Broken XML is repaired where that is possible. Relative
// addresses are resolved against xml:base, the site's address (RSS) or the feed's own; addresses
// that are not http or https are dropped. An item without a guid gets its address as guid, or a
// hash of its text. If items share a guid and an address, the first one stays; if only the guid is
// the same, the address is appended to it. Dates before 1971 are ignored.
//
// The error says what the document is instead (a web page, OPML), or the line and column where the
// XML is broken. Thread-safe.
Result<Feed> parse_feed(const FeedSource& source);

// True if `bytes` begin like an HTML page. Thread-safe.
bool looks_like_html(std::string_view bytes);

}  // namespace kin::stories
