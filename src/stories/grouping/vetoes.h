// Reasons to keep an item out of a story, whatever its score.
#pragma once

#include <optional>
#include <string_view>

#include "stories/grouping/profiles.h"
#include "stories/settings.h"
#include "stories/story.h"

namespace kin::stories {

enum class Veto {
  kNumbers,     // a different number at the same place: "iOS 7.1", "iOS 8"
  kPlaces,      // of two headlines, a different name beside the same word: "protests in Kenya"
  kFrame,       // the same words with another name: "Turkey raises rates", "Argentina raises rates"
  kNames,       // each side has a name that the other lacks: "M4 Mac Mini", "M4 iPad Pro"
  kTemplate,    // the source repeats this title regularly: "Morning briefing"
  kSameSource,  // the source is already there, and Settings::one_per_source is set
};

// The first veto against `member` in `story`.
// Thread-safe.
std::optional<Veto> find_veto(const Member& member, const Story& story, const Profile& profile,
                              const Settings& settings);

struct NamedStory {
  const Story& story;
  const Profile& profile;
};
// True if both stories have names in half of their titles, none of them in common, and each has one
// that the other does not have at all: they are about different people, places or companies.
// Thread-safe.
bool are_about_others(const NamedStory& a, const NamedStory& b);

}  // namespace kin::stories
