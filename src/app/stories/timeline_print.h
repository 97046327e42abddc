// The timeline as text and as JSON.
#pragma once

#include <string>

#include "stories/newsroom.h"

namespace kin::app {

struct TimelineStyle {
  stories::Time now{};
  bool expand = false;  // show the other headlines of each story
  bool colour = false;  // for a terminal
};

// Stories by local day, each with its other sources below it. Control characters are removed, since
// the texts come from strangers.
std::string timeline_text(const stories::TimelinePage& page, const TimelineStyle& style);

// As in docs/api.md.
std::string timeline_json(const stories::TimelinePage& page);

}  // namespace kin::app
