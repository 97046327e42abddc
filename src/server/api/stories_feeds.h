// The timeline as a feed, for other readers.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "server/http/routes.h"
#include "stories/newsroom.h"

namespace kin::server {

struct FeedDocument {
  std::string origin;  // "http://127.0.0.1:8722", of this server
  std::string target;  // of the request: "/stories.xml?unread=1"
  std::vector<stories::StoryView> stories;
  std::unordered_map<stories::FeedId, std::string> sources;  // what feeds are called
};

// Atom 1.0: well-formed, with everything escaped and without what XML cannot hold. Thread-safe.
std::string atom_feed(const FeedDocument& document);
// JSON Feed 1.1. Thread-safe.
std::string json_feed(const FeedDocument& document);

// `text` as it stands in XML or HTML, between tags or in an attribute. Characters that XML has no
// place for are dropped, bytes that are not UTF-8 become U+FFFD. Thread-safe.
std::string xml_escaped(std::string_view text);

struct FeedRouteOptions {
  bool tls = false;
};
// /stories.xml and /stories.json. The newsroom must outlive the router.
void add_feed_routes(Router& router, const stories::Newsroom& newsroom, FeedRouteOptions options);

}  // namespace kin::server
