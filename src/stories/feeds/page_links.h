// What a web page says about its feeds and its icon.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "net/url.h"

namespace kin::stories {

struct FeedLink {
  std::string url;
  std::string title;  // plain text; may be empty
  friend bool operator==(const FeedLink&, const FeedLink&) = default;
};

struct IconLink {
  std::string url;
  int size = 0;  // pixels; 0 if the page does not say
  friend bool operator==(const IconLink&, const IconLink&) = default;
};

struct PageLinks {
  std::vector<FeedLink> feeds;  // in the page's order, comment feeds last
  std::vector<IconLink> icons;  // the best for a small square first
  std::string title;            // plain text
};

// The <link>s of `html`, whose address is `page`; <base> is honoured. Only http and https addresses
// are given, each once, and no more than a page would have in earnest. Thread-safe.
PageLinks find_page_links(std::string_view html, const net::Url& page);

// Where sites keep their feeds that do not say so: addresses to try, the likeliest first.
// Thread-safe.
std::vector<std::string> common_feed_addresses(const net::Url& page);

}  // namespace kin::stories
