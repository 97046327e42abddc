// The feeds and icons that a web page links to.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "net/http_client.h"
#include "net/url.h"

namespace kin::stories {

struct FeedLink {
  std::string url;
  std::string title;  // plain text; may be empty
  friend bool operator==(const FeedLink&, const FeedLink&) = default;
};

struct IconLink {
  std::string url;
  int size = 0;  // pixels; 0: not given
  friend bool operator==(const IconLink&, const IconLink&) = default;
};

struct PageLinks {
  std::vector<FeedLink> feeds;  // in the page's order, feeds of comments last
  std::vector<IconLink> icons;  // the most suitable for a small icon first
};

// Finds the <link>s of `html`, which was fetched from `page`. <base> is respected. Returns http and
// https addresses only, each once, at most 50 of each kind. Thread-safe.
PageLinks find_page_links(std::string_view html, const net::Url& page);
// The same for a page in any charset.
PageLinks find_page_links(const net::HttpResponse& response, const net::Url& page);

// Common addresses of feeds, for sites that link to none, the most likely first. Thread-safe.
std::vector<std::string> common_feed_addresses(const net::Url& page);

}  // namespace kin::stories
