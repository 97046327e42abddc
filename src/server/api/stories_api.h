// The JSON API of docs/api.md over a newsroom.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "server/http/event_stream.h"
#include "server/http/routes.h"
#include "stories/newsroom.h"

namespace kin::server {

// All of it thread-safe, and outlives the router.
struct ApiParts {
  stories::Newsroom& newsroom;
  std::shared_ptr<EventStream> events;
  // Polls a feed, or all of them, soon. Returns at once.
  std::function<void(std::optional<stories::FeedId>)> refresh;
  // Something may be due now that was not.
  std::function<void()> feeds_changed;
};

void add_stories_api(Router& router, const ApiParts& parts);

// The part of a timeline that a query string asks for: limit, before, feed, folder, q, unread,
// starred. An error names what cannot be understood.
struct QueryRules {
  bool refuse_unknown = true;
};
Result<stories::TimelineQuery> timeline_query(const Request& request, QueryRules rules);

}  // namespace kin::server
