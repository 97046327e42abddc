#include "stories/grouping/vetoes.h"

#include <algorithm>

#include "base/check.h"

namespace kin::stories {
namespace {

// A name in half of the titles belongs to the subject of the story.
bool is_core(std::uint32_t count, const Story& story) {
  return 2 * count >= story.size();
}

// The story mostly has something else at this place.
bool has_other(const PlacedTerm& placed, const Story& story) {
  std::uint32_t others = 0;
  for (const PlacedCount& known : story.placed) {
    if (known.placed.place != placed.place) continue;
    if (known.placed.term == placed.term) return false;
    others += known.count;
  }
  return others > 0 && is_core(others, story);
}

bool numbers_clash(const Features& features, const Story& story) {
  return std::ranges::any_of(features.placed, [&](const PlacedTerm& placed) {
    return !placed.is_in_frame() && !features.has_name(placed.term) && has_other(placed, story);
  });
}

// One headline with the same words but another name is another event: "Protests in Kenya",
// "Protests in Nigeria". A story of several headlines has more evidence of its subject, and its
// papers name different people and places.
bool places_clash(const Features& features, const Story& story, const Profile& profile) {
  if (story.size() != 1) return false;
  const auto is_own = [&](const PlacedTerm& placed) {
    return !placed.is_in_frame() && features.has_name(placed.term) &&
           profile.find(placed.term) == nullptr;
  };
  const auto is_strange = [&](const PlacedCount& known) {
    return features.find(known.placed.term) == nullptr;
  };
  return std::ranges::any_of(features.placed, [&](const PlacedTerm& placed) {
    return is_own(placed) && std::ranges::any_of(story.placed, [&](const PlacedCount& known) {
             return known.placed.place == placed.place && is_strange(known);
           });
  });
}

// The same words with other names, or with the same names in other places: "Turkey raises interest
// rates", "Argentina raises interest rates"; "Israel strikes Hezbollah", "Hezbollah strikes
// Israel". If a gap has several words, one in common is enough.
bool frames_clash(const Features& features, const Story& story) {
  return std::ranges::any_of(features.placed, [&](const PlacedTerm& placed) {
    if (!placed.is_in_frame()) return false;
    std::uint32_t others = 0;
    for (const PlacedCount& known : story.placed) {
      if (known.placed.place != placed.place) continue;
      const PlacedTerm shared{placed.place, known.placed.term};
      if (std::ranges::find(features.placed, shared) != features.placed.end()) return false;
      others = std::max(others, known.count);
    }
    return others > 0 && is_core(others, story);
  });
}

// The names that only the item has, only the story has, and both have.
struct Distinct {
  bool own_name = false;
  bool own_mixed = false;
  bool story_name = false;
  bool story_mixed = false;
  bool shared_mixed = false;
  bool shared_name = false;
};

Distinct compare_names(const Features& features, const Story& story, const Profile& profile) {
  Distinct distinct;
  for (const NameMark& mark : features.names) {
    if (profile.find(mark.term) != nullptr) {
      distinct.shared_name = true;
      continue;
    }
    distinct.own_name = true;
    distinct.own_mixed |= mark.mixed;
  }
  for (const NameCount& known : story.names) {
    const bool mixed = is_core(known.mixed, story);
    const bool shared = features.find(known.term) != nullptr;
    distinct.shared_name |= shared;
    distinct.shared_mixed |= shared && mixed;
    distinct.story_mixed |= !shared && mixed;
    distinct.story_name |= !shared && is_core(known.count, story);
  }
  return distinct;
}

// Ordinary names (people, places, companies) often differ within a story: one paper mentions them
// and another does not. Names of mixed spelling are mostly products and models, and do not differ.
// So a story about one takes no item with another one, and none that shares no name with it. If
// both have the same model number, the name of the product decides.
bool names_clash(const Features& features, const Story& story, const Profile& profile) {
  const Distinct distinct = compare_names(features, story, profile);
  if (distinct.own_mixed && distinct.story_mixed) return true;
  if ((distinct.own_mixed || distinct.story_mixed) && !distinct.shared_name) return true;
  return distinct.shared_mixed && distinct.own_name && distinct.story_name;
}

// If a source uses a title again hours later, the title is a template.
bool is_habit(const Member& member, const Story& story) {
  constexpr UnixSeconds kApart = 6 * 3600;
  const std::uint64_t key = member.features.template_key;
  const auto found = std::ranges::lower_bound(story.templates, key, {}, &TemplateSpan::key);
  if (key == 0 || member.source == 0 || found == story.templates.end() || found->key != key)
    return false;
  return std::max(found->last, member.published_at) - std::min(found->first, member.published_at) >
         kApart;
}

// How the names in half of a story's titles occur in another story.
struct CoreNames {
  bool missing = false;  // one of them is in no title there
  bool shared = false;   // one of them is in half of the titles there
};

CoreNames find_core_names(const Story& story, const Profile& other) {
  CoreNames found;
  for (const NameCount& known : story.names) {
    if (!is_core(known.count, story)) continue;
    const ProfileTerm* there = other.find(known.term);
    found.missing |= there == nullptr;
    found.shared |= there != nullptr && 2 * there->count >= other.members;
  }
  return found;
}

}  // namespace

bool are_about_others(const NamedStory& a, const NamedStory& b) {
  const CoreNames here = find_core_names(a.story, b.profile);
  const CoreNames there = find_core_names(b.story, a.profile);
  return here.missing && there.missing && !here.shared && !there.shared;
}

std::optional<Veto> find_veto(const Member& member, const Story& story, const Profile& profile,
                              const Settings& settings) {
  if (numbers_clash(member.features, story)) return Veto::kNumbers;
  if (places_clash(member.features, story, profile)) return Veto::kPlaces;
  if (frames_clash(member.features, story)) return Veto::kFrame;
  if (names_clash(member.features, story, profile)) return Veto::kNames;
  if (is_habit(member, story)) return Veto::kTemplate;
  if (settings.one_per_source && member.source != 0 && story.has_source(member.source))
    return Veto::kSameSource;
  return {};
}

}  // namespace kin::stories
