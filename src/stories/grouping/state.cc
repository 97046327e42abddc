#include <algorithm>

#include "stories/grouper.h"

namespace kin::stories {
namespace {

Error broken(std::string_view what) {
  return {Code::kDataLoss,
          std::string("the state of story grouping is inconsistent: ").append(what)};
}

bool is_sound(const Centroid& centroid, std::size_t terms) {
  const auto sorted =
      std::ranges::is_sorted(centroid.terms, std::less_equal<>(), &CentroidTerm::term);
  return (centroid.terms.size() < 2 || sorted) &&
         std::ranges::all_of(centroid.terms, [&](const CentroidTerm& part) {
           return index(part.term) < terms && part.weight > 0;
         });
}

bool is_sound(const Features& features, std::size_t terms) {
  const auto known = [&](TermId term) { return index(term) < terms; };
  return std::ranges::all_of(features.title, known, &TermWeight::term) &&
         std::ranges::all_of(features.text, known, &TermWeight::term) &&
         std::ranges::is_sorted(features.title, {}, &TermWeight::term) &&
         std::ranges::is_sorted(features.text, {}, &TermWeight::term) &&
         std::ranges::all_of(features.names, known, &NameMark::term) &&
         std::ranges::all_of(features.numbers, known, &PlacedNumber::number);
}

}  // namespace

GrouperState Grouper::export_state() const {
  GrouperState state{.terms = vocabulary_.terms(),
                     .counted_stories = vocabulary_.stories(),
                     .next_story = next_story_,
                     .next_arrival = next_arrival_,
                     .newest = newest_,
                     .swept = swept_,
                     .stories = {},
                     .signatures = {},
                     .aliases = {aliases_.begin(), aliases_.end()},
                     .apart = {apart_.begin(), apart_.end()}};
  for (const auto& [id, slot] : slots_) {
    GrouperState::OpenStory open{stories_[slot], {}, {}};
    if (!titles_.empty(slot)) open.title = titles_.at(slot);
    if (!texts_.empty(slot)) open.text = texts_.at(slot);
    state.stories.push_back(std::move(open));
  }
  // Hash maps have no order; sorting makes equal states equal bytes.
  std::ranges::sort(state.stories, {}, [](const auto& open) { return open.story.id; });
  for (const auto& [item, slot] : items_) {
    if (const TextSketch* sketch = sketches_.find(item))
      state.signatures.emplace_back(item, sketch->signature);
  }
  std::ranges::sort(state.signatures, {}, [](const auto& pair) { return pair.first; });
  return state;
}

Status Grouper::check_state(const GrouperState& state) const {
  std::set<ItemId> items;
  std::set<StoryId> ids;
  for (const auto& open : state.stories) {
    const Story& story = open.story;
    if (story.id == kNoStory || number(story.id) >= state.next_story ||
        !ids.insert(story.id).second)
      return broken("the id of a story");
    // The code relies on both without looking.
    if (story.members.empty() || story.find(story.representative) == nullptr)
      return broken("a story without its items");
    if (!is_sound(open.title, state.terms.size()) || !is_sound(open.text, state.terms.size()))
      return broken("a centroid");
    for (const Member& member : story.members) {
      if (!items.insert(member.item).second || member.arrival >= state.next_arrival)
        return broken("an item that is there twice");
      if (!is_sound(member.features, state.terms.size())) return broken("the words of an item");
    }
  }
  for (const auto& [from, to] : state.aliases) {
    if (!ids.contains(to) || ids.contains(from)) return broken("an alias");
  }
  return Done{};
}

Result<Grouper> Grouper::restore(Settings settings, GrouperState state) {
  KIN_RETURN_IF_ERROR(check(settings));
  Grouper grouper(std::move(settings));
  KIN_RETURN_IF_ERROR(grouper.check_state(state));
  std::vector<std::pair<std::uint64_t, const Member*>> arrivals;
  grouper.stories_.reserve(state.stories.size());
  for (auto& open : state.stories) {
    const Slot slot = grouper.open(open.story.id);
    grouper.stories_[slot] = std::move(open.story);
    grouper.titles_.restore(slot, std::move(open.title));
    grouper.texts_.restore(slot, std::move(open.text));
    for (const Member& member : grouper.stories_[slot].members) {
      grouper.items_[member.item] = slot;
      arrivals.emplace_back(member.arrival, &member);
    }
  }
  // Lists by key and by band are in order of arrival, which decides ties.
  std::ranges::sort(arrivals, {}, [](const auto& arrival) { return arrival.first; });
  const std::map<ItemId, std::array<std::uint32_t, kSketchHashes>> signatures(
      state.signatures.begin(), state.signatures.end());
  for (const auto& [number, member] : arrivals) {
    grouper.index(*member, grouper.items_.at(member->item));
    const auto signature = signatures.find(member->item);
    if (signature != signatures.end())
      grouper.sketches_.add(member->item, sketch_of_signature(signature->second));
  }
  grouper.vocabulary_ = Vocabulary(std::move(state.terms), state.counted_stories);
  for (const auto& [from, to] : state.aliases) grouper.add_alias(from, to);
  grouper.apart_ = {state.apart.begin(), state.apart.end()};
  grouper.next_story_ = state.next_story;
  grouper.next_arrival_ = state.next_arrival;
  grouper.newest_ = state.newest;
  grouper.swept_ = state.swept;
  return grouper;
}

}  // namespace kin::stories
