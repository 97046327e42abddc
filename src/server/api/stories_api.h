// The JSON API of docs/api.md over a newsroom.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "server/http/event_stream.h"
#include "server/http/routes.h"
#include "stories/newsroom.h"

namespace kin::server {

// Everything here is thread-safe and must outlive the route table.
struct ApiParts {
  stories::Newsroom& newsroom;
  std::shared_ptr<EventStream> events;
  // Starts a poll of a feed, or of all feeds. Returns at once.
  std::function<void(std::optional<stories::FeedId>)> refresh;
  // Called after feeds were added: some may be due.
  std::function<void()> feeds_changed;
};

void add_stories_api(RouteTable& routes, const ApiParts& parts);

// Reads the parameters limit, before, feed, folder, q, unread, starred and hidden. An error names
// the parameter that is wrong.
struct QueryRules {
  bool refuse_unknown = true;
};
Result<stories::TimelineQuery> timeline_query(const Request& request, QueryRules rules);

}  // namespace kin::server
