// Feeds as they are found in the wild: RSS 0.9x, 1.0 and 2.0, Atom 0.3 and 1.0, JSON Feed.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"
#include "stories/feeds/feed.h"

namespace kin::stories {

struct FeedLimits {
  std::size_t bytes = std::size_t{32} << 20;  // of the document
  std::size_t items = 1'000;                  // the first ones stay
  std::size_t title = 500;                    // bytes; longer ones are clipped
  std::size_t summary = 4'000;
  std::size_t author = 200;
  std::size_t guid = 1'000;  // longer ones are replaced by their hash
  std::size_t url = 4'000;   // longer ones are dropped
};

struct FeedSource {
  std::string_view bytes;
  std::string_view content_type = {};  // the HTTP header; may be empty
  std::string_view address = {};  // where it came from, to resolve relative links; may be empty
  Time now = {};                  // items from the future are dated now
  FeedLimits limits = {};
};

// The feed in `source`, in the charset it is in. Documents that are not well formed are read as far
// as they make sense. Relative addresses are resolved by xml:base, by the site's address (RSS), or
// by the feed's own; those that are not http or https are dropped. An item without a guid has its
// address for one, or a hash of its text; of items with one guid and one address the first stays;
// those with one guid and several addresses get the address added to it. Dates before 1971 count as
// not given.
//
// The error says what the bytes are instead (a web page, OPML), or the line and column where the
// XML stopped making sense. Thread-safe.
Result<Feed> parse_feed(const FeedSource& source);

// True if `bytes` start like a web page. Thread-safe.
bool looks_like_html(std::string_view bytes);

}  // namespace kin::stories
