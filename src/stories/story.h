// A story and its members, as the grouper keeps them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "stories/grouping/features.h"
#include "stories/ids.h"
#include "stories/item.h"

namespace kin::stories {

// Why an item is in its story.
enum class Tier : std::uint8_t {
  kOpened,       // no story was similar: it opened a new one
  kIdentity,     // same page, guid or title as an item of the story
  kRepublished,  // nearly the same text as an item of the story
  kStory,        // similar to the story as a whole
  kCorrected,    // moved by the user
  kUngrouped,    // its feed is not grouped
};
std::string_view name_of(Tier tier);

// An item in a story of the grouper, with the data that grouping needs.
struct Member {
  ItemId item{};
  std::uint64_t arrival = 0;  // counts all items in order of arrival
  UnixSeconds published_at = 0;
  std::uint64_t source = 0;  // hash of the source's name
  std::uint32_t rank = 0;    // of the source in Settings::preferred_sources; the lowest represents
  Tier tier = Tier::kOpened;
  double similarity = 1;
  double length = 0;                  // of the weighted terms, at arrival
  std::vector<std::uint64_t> keys{};  // hashes of page, guid and title
  Features features{};
  friend bool operator==(const Member&, const Member&) = default;
};

// How many titles of a story have a name, or a term at a place.
struct NameCount {
  TermId term{};
  std::uint32_t count = 0;
  std::uint32_t mixed = 0;
  friend bool operator==(const NameCount&, const NameCount&) = default;
};
struct PlacedCount {
  PlacedTerm placed;
  std::uint32_t count = 0;
  friend bool operator==(const PlacedCount&, const PlacedCount&) = default;
};

// The time span in which a source used one title template (a title without numbers and days).
struct TemplateSpan {
  std::uint64_t key = 0;
  UnixSeconds first = 0;
  UnixSeconds last = 0;
  friend bool operator==(const TemplateSpan&, const TemplateSpan&) = default;
};

// `first`, `last` and the counts follow from the members.
struct Story {
  StoryId id = kNoStory;
  ItemId representative{};
  UnixSeconds first = 0;
  UnixSeconds last = 0;
  bool grouped = true;            // false: no item may join
  bool column = false;            // of a title that returns daily or weekly: never merged
  std::vector<Member> members{};  // in any order
  std::vector<NameCount> names{};
  std::vector<PlacedCount> placed{};      // sorted by place and term
  std::vector<TemplateSpan> templates{};  // sorted by key
  friend bool operator==(const Story&, const Story&) = default;

  std::uint32_t size() const { return static_cast<std::uint32_t>(members.size()); }
  const Member* find(ItemId item) const;
  bool has_source(std::uint64_t source) const;
  // Adds a member and updates the counts, but not the representative.
  void add(Member member);
  // Adds all members of `other`.
  void add_all(Story other);
  // Removes and returns the members of these items, and updates the counts. Unknown items are
  // ignored.
  std::vector<Member> take(std::span<const ItemId> items);
  // The item that should represent the story: from the best source; among several, the present
  // representative, else the first.
  ItemId best_representative() const;

 private:
  void count(const Member& member);
  void count_template(const Member& member);
  void recount();
};

}  // namespace kin::stories
