// The timeline as people and programs read it.
#pragma once

#include <map>
#include <string>

#include "stories/newsroom.h"

namespace kin::app {

struct TimelineStyle {
  stories::Time now{};
  bool expand = false;  // with the other headlines of each story
  bool colour = false;  // for a terminal
};

// By the local day, each story once, with its other sources below it. Texts come from strangers:
// what would steer a terminal is left out.
std::string timeline_text(const stories::TimelinePage& page,
                          const std::map<stories::FeedId, std::string>& sources,
                          const TimelineStyle& style);

// As the API gives it (docs/api.md).
std::string timeline_json(const stories::TimelinePage& page);

}  // namespace kin::app
