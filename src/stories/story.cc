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
  // From the back, because callers mostly ask for new members.
  const auto found = std::find_if(members.rbegin(), members.rend(),
                                  [&](const Member& member) { return member.item == item; });
  return found == members.rend() ? nullptr : &*found;
}

bool Story::has_source(std::uint64_t source) const {
  return std::ranges::find(members, source, &Member::source) != members.end();
}

void Story::count(const Member& member) {
  for (const NameMark& mark : member.features.names) {
    auto at = std::ranges::lower_bound(names, mark.term, {}, &NameCount::term);
    // The lists are sorted and short, so inserting is cheaper than a map.
    if (at == names.end() || at->term != mark.term) at = names.insert(at, {mark.term, 0, 0});
    ++at->count;
    at->mixed += mark.mixed ? 1 : 0;
  }
  for (const PlacedTerm& term : member.features.placed) {
    auto at = std::ranges::lower_bound(placed, term, {}, &PlacedCount::placed);
    if (at == placed.end() || at->placed != term) at = placed.insert(at, {term, 0});
    ++at->count;
  }
  count_template(member);
  // The member is in the list already.
  const bool only = members.size() == 1;
  first = only ? member.published_at : std::min(first, member.published_at);
  last = only ? member.published_at : std::max(last, member.published_at);
}

void Story::count_template(const Member& member) {
  const std::uint64_t key = member.features.template_key;
  // The title is too short to be a template.
  if (key == 0) return;
  auto at = std::ranges::lower_bound(templates, key, {}, &TemplateSpan::key);
  if (at == templates.end() || at->key != key)
    at = templates.insert(at, {key, member.published_at, member.published_at});
  at->first = std::min(at->first, member.published_at);
  at->last = std::max(at->last, member.published_at);
}

void Story::recount() {
  names.clear();
  placed.clear();
  templates.clear();
  // The counts are rebuilt, because a minimum cannot be updated when its member leaves.
  std::vector<Member> all = std::move(members);
  members.clear();
  for (Member& member : all) add(std::move(member));
}

void Story::add(Member member) {
  members.push_back(std::move(member));
  count(members.back());
}

// Adds the smaller story to the larger one, so that many merges stay cheap.
void Story::add_all(Story other) {
  column |= other.column;
  if (other.size() > size()) {
    std::swap(members, other.members);
    std::swap(names, other.names);
    std::swap(placed, other.placed);
    std::swap(templates, other.templates);
    std::swap(first, other.first);
    std::swap(last, other.last);
  }
  for (Member& member : other.members) add(std::move(member));
}

std::vector<Member> Story::take(std::span<const ItemId> items) {
  std::vector<ItemId> wanted(items.begin(), items.end());
  std::ranges::sort(wanted);
  const auto rest = std::ranges::stable_partition(members, [&](const Member& member) {
    return !std::ranges::binary_search(wanted, member.item);
  });
  std::vector<Member> taken(std::make_move_iterator(rest.begin()),
                            std::make_move_iterator(rest.end()));
  members.erase(rest.begin(), rest.end());
  recount();
  return taken;
}

ItemId Story::best_representative() const {
  const Member* best = find(representative);
  for (const Member& member : members) {
    // Strictly better only, so that the representative changes as seldom as possible.
    if (best == nullptr || member.rank < best->rank) best = &member;
  }
  return best == nullptr ? representative : best->item;
}

}  // namespace kin::stories
