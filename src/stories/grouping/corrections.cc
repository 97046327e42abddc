#include <algorithm>
#include <array>

#include "base/check.h"
#include "stories/grouper.h"

namespace kin::stories {

void Grouper::move_out(Slot from, std::span<const ItemId> items, Slot to) {
  for (Member& member : stories_[from].take(items)) {
    const ItemId item = member.item;
    if (stories_[from].grouped) {
      profiles_.remove(from, member.features, member.length, vocabulary_);
      profiles_.add(to, member.features, member.length, vocabulary_);
    }
    stories_[to].add(std::move(member));
    items_[item] = to;
    changes_.push_back({Change::Kind::kMoved, stories_[to].id, stories_[from].id, item});
  }
  for (const Slot slot : {from, to}) replace_lost_representative(slot);
}

void Grouper::replace_lost_representative(Slot slot) {
  Story& story = stories_[slot];
  if (story.find(story.representative) != nullptr) return;
  // best_representative() prefers the present one, which must be a member.
  story.representative = story.members.front().item;
  story.representative = story.best_representative();
  changes_.push_back({Change::Kind::kRepresentative, story.id, kNoStory, story.representative});
}

void Grouper::add_alias(StoryId from, StoryId to) {
  aliases_[from] = to;
  aliases_of_[to].push_back(from);
}

bool Grouper::are_apart(StoryId a, StoryId b) const {
  return apart_.contains(std::minmax(a, b));
}

void Grouper::rename_apart(StoryId from, StoryId to) {
  std::vector<StoryId> others;
  std::erase_if(apart_, [&](const auto& pair) {
    if (pair.first != from && pair.second != from) return false;
    others.push_back(pair.first == from ? pair.second : pair.first);
    return true;
  });
  for (const StoryId other : others) {
    if (other != to) apart_.insert(std::minmax(other, to));
  }
}

Result<StoryId> Grouper::separate(ItemId item) {
  const auto found = items_.find(item);
  if (found == items_.end())
    return Error{Code::kNotFound,
                 "the item is in no open story: it is too old, or was never added"};
  const Slot from = found->second;
  const StoryId left = stories_[from].id;
  if (stories_[from].size() == 1) return left;
  const Slot to = open_next();
  const StoryId id = stories_[to].id;
  move_out(from, std::array{item}, to);
  Member& member = stories_[to].members.front();
  member.tier = Tier::kCorrected;
  member.similarity = 1;
  apart_.insert(std::minmax(left, id));
  return id;
}

Result<StoryId> Grouper::unite(StoryId a, StoryId b) {
  const auto slot_a = slots_.find(resolve(a));
  const auto slot_b = slots_.find(resolve(b));
  if (slot_a == slots_.end() || slot_b == slots_.end())
    return Error{Code::kNotFound,
                 "one of the stories is not open: it is too old, or does not exist"};
  const Slot first = slot_a->second;
  const Slot second = slot_b->second;
  if (!stories_[first].grouped || !stories_[second].grouped)
    return Error{Code::kFailedPrecondition,
                 "one of the stories belongs to a feed that is not grouped (switch grouping on)"};
  if (first == second) return stories_[first].id;
  apart_.erase(std::minmax(stories_[first].id, stories_[second].id));
  return stories_[merge(first, second)].id;
}

// Closes no stories: adopted items come in any order, and their stories were open.
void Grouper::adopt(const Item& item, const Adopted& place) {
  if (items_.contains(item.id)) return;
  if (next_arrival_ == 0) swept_ = newest_ = item.published_at;
  newest_ = std::max(newest_, item.published_at);
  fade_terms();
  bool is_column = false;
  Member member = describe(item, is_column);
  member.tier = place.tier;
  member.similarity = place.similarity;
  const auto known = slots_.find(place.story);
  const Slot slot = known == slots_.end() ? open(place.story) : known->second;
  next_story_ = std::max(next_story_, number(place.story) + 1);
  stories_[slot].grouped = item.grouped;
  stories_[slot].column |= is_column;
  join(slot, std::move(member));
  if (place.is_representative) stories_[slot].representative = item.id;
  if (!item.grouped) return;
  if (const auto sketch = sketcher_.sketch(item)) sketches_.add(item.id, *sketch);
}

bool Grouper::forget(ItemId item) {
  const auto found = items_.find(item);
  if (found == items_.end()) return false;
  const Slot slot = found->second;
  if (stories_[slot].size() == 1) {
    close(slot);
    return true;
  }
  for (const Member& member : stories_[slot].take(std::array{item})) {
    unindex(member);
    if (stories_[slot].grouped) profiles_.remove(slot, member.features, member.length, vocabulary_);
  }
  replace_lost_representative(slot);
  return true;
}

}  // namespace kin::stories
