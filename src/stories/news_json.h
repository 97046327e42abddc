// Feeds, timelines, stories and events as JSON (docs/api.md). The API and the commands both use it.
#pragma once

#include <span>

#include "base/json_writer.h"
#include "stories/newsroom.h"

namespace kin::stories {

// Each writes one object. Thread-safe.
void write_feed(JsonWriter& json, const FollowedFeed& feed);
void write_story(JsonWriter& json, const StoryView& story);
void write_related(JsonWriter& json, const RelatedStory& story);
void write_timeline(JsonWriter& json, const TimelinePage& page);
void write_event(JsonWriter& json, const NewsEvent& event);

// {"feeds": […]}
void write_feeds(JsonWriter& json, std::span<const FollowedFeed> feeds);

}  // namespace kin::stories
