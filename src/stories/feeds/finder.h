// The feeds of an address that a person typed.
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

// The feeds at `address`, the likeliest first: itself if it is one; else those that its page names;
// else those found where sites keep them. Without a scheme https is tried, then http. An error if
// the address cannot be read, or if there is no feed. Thread-safe.
Result<std::vector<FeedLink>> find_feeds(net::HttpClient& client, std::string_view address,
                                         const FindOptions& options);

}  // namespace kin::stories
