// What keeps an item out of a story however alike their words are.
#pragma once

#include <optional>
#include <string_view>

#include "stories/grouping/centroids.h"
#include "stories/settings.h"
#include "stories/story.h"

namespace kin::stories {

enum class Veto {
  kNumbers,     // another number in the same place: "iOS 7.1", "iOS 8"
  kNames,       // both sides name something of their own: "M4 Mac Mini", "M4 iPad Pro"
  kTemplate,    // the same source uses the same title again and again: "Morning briefing"
  kSameSource,  // and one item a source was asked for
};
std::string_view name_of(Veto veto);

// The first veto against `member` in `story`, whose titles have `centroid`. Thread-safe.
std::optional<Veto> find_veto(const Member& member, const Story& story, const Centroid& centroid,
                              const Settings& settings);

}  // namespace kin::stories
