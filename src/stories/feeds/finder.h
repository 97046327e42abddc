// Finds the feeds of an address that a person typed.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/http_client.h"
#include "stories/date_parser.h"
#include "stories/feeds/page_links.h"

namespace kin::stories {

struct FindOptions {
  Time now = {};
  net::Credentials credentials = {};
};

// The feeds at `address`, the most likely first: the address itself if it is a feed, else those
// that its page links to, else those found at common paths. Without a scheme, https is tried before
// http. An error if the address is invalid, cannot be fetched, or has no feed. Thread-safe.
Result<std::vector<FeedLink>> find_feeds(net::HttpClient& client, std::string_view address,
                                         const FindOptions& options);

// Whether an address that a person typed names a scheme, such as "https://". Thread-safe.
bool has_scheme(std::string_view address);

}  // namespace kin::stories
