#include "stories/story.h"

#include <algorithm>

#include "base/check.h"

namespace kin::stories {

std::string_view name_of(Tier tier) {
  switch (tier) {
    case Tier::kOpened: return "opened";
    case Tier::kIdentity: return "identity";
    case Tier::kRepublished: return "republished";
    case Tier::kStory: return "story";
    case Tier::kCorrected: return "corrected";
    case Tier::kUngrouped: return "ungrouped";
  }
  KIN_UNREACHABLE();
}

const Member* Story::find(ItemId item) const {
  // From the back: it is mostly the newest that is asked for.
  const auto found = std::find_if(members.rbegin(), members.rend(),
                                  [&](const Member& member) { return member.item == item; });
  return found == members.rend() ? nullptr : &*found;
}

void Story::count(const Member& member) {
  for (const NameMark& mark : member.features.names) {
    auto at = std::ranges::lower_bound(names, mark.term, {}, &NameCount::term);
    if (at == names.end() || at->term != mark.term) at = names.insert(at, {mark.term, 0, 0});
    ++at->count;
    at->mixed += mark.mixed ? 1 : 0;
  }
  for (const PlacedNumber& number : member.features.numbers) {
    const auto at = std::ranges::find(numbers, number, &NumberCount::number);
    if (at == numbers.end()) {
      numbers.push_back({number, 1});
    } else {
      ++at->count;
    }
  }
  first = members.size() == 1 ? member.published_at : std::min(first, member.published_at);
  last = members.size() == 1 ? member.published_at : std::max(last, member.published_at);
}

void Story::recount() {
  names.clear();
  numbers.clear();
  std::vector<Member> all = std::move(members);
  members.clear();
  for (Member& member : all) add(std::move(member));
}

void Story::add(Member member) {
  members.push_back(std::move(member));
  count(members.back());
}

void Story::add_all(Story other) {
  fixed |= other.fixed;
  members.insert(members.end(), std::make_move_iterator(other.members.begin()),
                 std::make_move_iterator(other.members.end()));
  std::ranges::sort(members, {}, &Member::arrival);
  recount();
}

Member Story::take(ItemId item) {
  const auto found = std::ranges::find(members, item, &Member::item);
  KIN_CHECK(found != members.end(), "taking an item out of a story that does not hold it");
  Member taken = std::move(*found);
  members.erase(found);
  recount();
  return taken;
}

ItemId Story::best_representative() const {
  const Member* best = find(representative);
  for (const Member& member : members) {
    if (best == nullptr || member.rank < best->rank) best = &member;
  }
  return best == nullptr ? representative : best->item;
}

}  // namespace kin::stories
