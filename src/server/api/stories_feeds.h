// The timeline as a feed, for other feed readers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/http/routes.h"
#include "stories/newsroom.h"

namespace kin::server {

struct FeedDocument {
  std::string origin;  // "http://127.0.0.1:8722", of this server
  std::string target;  // of the request, without a token: "/stories.xml?unread=1"
  std::vector<stories::StoryView> stories;
};

// Atom 1.0, well formed: all text is escaped, and characters that XML does not allow are dropped.
// Thread-safe.
std::string atom_feed(const FeedDocument& document);
// JSON Feed 1.1. Thread-safe.
std::string json_feed(const FeedDocument& document);

// `text` escaped for XML and HTML, between tags or in an attribute. Characters that XML does not
// allow are dropped; bytes that are not UTF-8 become U+FFFD. Thread-safe.
std::string xml_escaped(std::string_view text);

struct FeedRouteOptions {
  bool tls = false;
  std::string public_origin{};  // as in GateOptions
};
// Adds /stories.xml and /stories.json. The newsroom must outlive the table.
void add_feed_routes(RouteTable& routes, const stories::Newsroom& newsroom,
                     const FeedRouteOptions& options);

}  // namespace kin::server
