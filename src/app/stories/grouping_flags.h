// The settings of grouping as options of a verb.
#pragma once

#include "stories/settings.h"

namespace CLI {
class App;
}  // namespace CLI

namespace kin::app {

struct GroupingFlags {
  stories::Settings settings{};  // without `window` and `fading`, which are in hours below
  int window = static_cast<int>(settings.window.count());
  int fading = static_cast<int>(settings.fading.count());
};

void add_grouping_flags(CLI::App& verb, GroupingFlags& flags);

// `before` with the options that the user gave to `verb`.
stories::Settings with_flags(stories::Settings before, const GroupingFlags& flags,
                             const CLI::App& verb);

}  // namespace kin::app
