// Feeds and stories as the API shows them.
#pragma once

#include <string>

#include "base/json_writer.h"
#include "stories/newsroom.h"

namespace kin::server {

void write_feed(JsonWriter& json, const stories::FollowedFeed& feed);
void write_story(JsonWriter& json, const stories::StoryView& story);
std::string timeline_json(const stories::TimelinePage& page);

// The data of a "news" event; empty if it holds so much that a "reset" says it better.
std::string news_json(const stories::NewsEvent& event);

}  // namespace kin::server
