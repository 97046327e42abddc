// The settings of grouping as options of a verb.
#pragma once

#include "app/options.h"
#include "stories/settings.h"

namespace kin::app {

struct GroupingFlags {
  stories::Settings settings{};  // without `window` and `fading`, which are in hours below
  int window = static_cast<int>(settings.window.count());
  int fading = static_cast<int>(settings.fading.count());
};

void add_grouping_flags(Verb verb, GroupingFlags& flags);

// `before` with the options that the user gave to `verb`.
stories::Settings with_flags(stories::Settings before, const GroupingFlags& flags, Verb verb);

}  // namespace kin::app
