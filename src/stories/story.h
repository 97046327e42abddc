// A story as grouping keeps it.
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
  kOpened,       // nothing like it: it opened the story
  kIdentity,     // the same page, guid or title as an item of the story
  kRepublished,  // the same text, or almost
  kStory,        // like the story as a whole
  kCorrected,    // the user said so
  kUngrouped,    // its feed is not to be grouped
};
std::string_view name_of(Tier tier);

struct Member {
  ItemId item{};
  std::uint64_t arrival = 0;  // its number in order of arrival, over all stories
  UnixSeconds published_at = 0;
  std::uint64_t source = 0;  // a hash of its name
  std::uint32_t rank = 0;    // of the source among the preferred ones; the lowest represents
  Tier tier = Tier::kOpened;
  double similarity = 1;
  std::vector<std::uint64_t> keys{};  // by which the same item is known again
  Features features{};
  friend bool operator==(const Member&, const Member&) = default;
};

// Where names and numbers stand in the titles of a story.
struct NameCount {
  TermId term{};
  std::uint32_t count = 0;
  std::uint32_t mixed = 0;
  friend bool operator==(const NameCount&, const NameCount&) = default;
};
struct NumberCount {
  PlacedNumber number;
  std::uint32_t count = 0;
  friend bool operator==(const NumberCount&, const NumberCount&) = default;
};

// When a source used one title, but for numbers and days.
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
  bool fixed = false;             // the user put it together: it is not split
  bool grouped = true;            // false: nothing may join
  std::vector<Member> members{};  // in no particular order
  std::vector<NameCount> names{};
  std::vector<NumberCount> numbers{};     // sorted by place and number
  std::vector<TemplateSpan> templates{};  // sorted by key
  friend bool operator==(const Story&, const Story&) = default;

  std::uint32_t size() const { return static_cast<std::uint32_t>(members.size()); }
  const Member* find(ItemId item) const;
  // Appends a member and counts it in. The caller sees to the representative.
  void add(Member member);
  // Takes over all members of `other`.
  void add_all(Story other);
  // Takes the members out and counts everything again. Those that are not there are passed over.
  std::vector<Member> take(std::span<const ItemId> items);
  // The member that should represent the story: of the best source, then the one that does so now,
  // then the first.
  ItemId best_representative() const;

 private:
  void count(const Member& member);
  void count_template(const Member& member);
  void recount();
};

}  // namespace kin::stories
