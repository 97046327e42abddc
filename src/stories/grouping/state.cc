#include <algorithm>

#include "stories/grouper.h"

namespace kin::stories {
namespace {

Error broken(std::string_view what) {
  return {Code::kDataLoss,
          std::string("the state of story grouping is inconsistent: ").append(what)};
}

bool is_sound(const Profile& profile, const Story& story, const GrouperState& state) {
  const auto& terms = profile.terms;
  const auto fits = [&](const ProfileTerm& part) {
    return index(part.term) < state.terms.size() && state.terms[index(part.term)].key != 0 &&
           part.count > 0 && part.count <= profile.members;
  };
  return profile.members == (story.grouped ? story.size() : 0) && profile.length >= 0 &&
         std::ranges::is_sorted(terms, std::less_equal<>(), &ProfileTerm::term) &&
         std::ranges::all_of(terms, fits) && profile.meaning.count <= profile.members &&
         (profile.meaning.count == 0 ||
          profile.meaning.values.size() == state.meaning.sum.size()) &&
         (profile.meaning.count > 0) == !profile.meaning.values.empty();
}

bool is_sound(const Features& features, const Profile& profile, const GrouperState& state) {
  const auto known = [&](TermId term) { return index(term) < state.terms.size(); };
  // Removing an item relies on its terms being in the profile.
  const auto held = [&](TermId term) { return profile.find(term) != nullptr; };
  return (profile.members == 0 || std::ranges::all_of(features.terms, held, &ItemTerm::term)) &&
         std::ranges::is_sorted(features.terms, std::less_equal<>(), &ItemTerm::term) &&
         std::ranges::all_of(features.terms, known, &ItemTerm::term) &&
         std::ranges::all_of(features.names, known, &NameMark::term) &&
         std::ranges::all_of(features.placed, known, &PlacedTerm::term) &&
         (features.meaning.empty() || features.meaning.size() == state.meaning.sum.size());
}

}  // namespace

GrouperState Grouper::export_state() const {
  GrouperState state{.terms = vocabulary_.terms(),
                     .counted_stories = vocabulary_.stories(),
                     .counted_headlines = vocabulary_.headlines(),
                     .next_story = next_story_,
                     .next_arrival = next_arrival_,
                     .newest = newest_,
                     .swept = swept_,
                     .stories = {},
                     .signatures = {},
                     .aliases = {aliases_.begin(), aliases_.end()},
                     .apart = {apart_.begin(), apart_.end()},
                     .columns = {columns_.begin(), columns_.end()},
                     .meaning = meaning_.state()};
  for (const auto& [id, slot] : slots_) {
    GrouperState::OpenStory open{stories_[slot], {}};
    if (!profiles_.empty(slot)) open.profile = profiles_.at(slot);
    state.stories.push_back(std::move(open));
  }
  // Hash maps have no order; sorting makes equal states equal bytes.
  std::ranges::sort(state.stories, {}, [](const auto& open) { return open.story.id; });
  std::ranges::sort(state.columns);
  for (const auto& [item, slot] : items_) {
    if (const auto sketch = sketches_.find(item))
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
    // Other code relies on both without checking.
    if (story.members.empty() || story.find(story.representative) == nullptr)
      return broken("a story without its items");
    if (!is_sound(open.profile, story, state)) return broken("a profile");
    for (const Member& member : story.members) {
      if (!items.insert(member.item).second || member.arrival >= state.next_arrival)
        return broken("an item that occurs twice");
      if (!is_sound(member.features, open.profile, state)) return broken("the words of an item");
    }
  }
  for (const auto& [from, to] : state.aliases) {
    if (!ids.contains(to) || ids.contains(from)) return broken("an alias");
  }
  return Done{};
}

Result<Grouper> Grouper::restore(Settings settings, GrouperState state, Model model) {
  KIN_RETURN_IF_ERROR(check(settings));
  Grouper grouper(std::move(settings), std::move(model));
  KIN_RETURN_IF_ERROR(grouper.check_state(state));
  if (!grouper.meaning_.restore(std::move(state.meaning)))
    return Error{Code::kFailedPrecondition,
                 "the state of story grouping was made with other word vectors"};
  std::vector<std::pair<std::uint64_t, const Member*>> arrivals;
  grouper.stories_.reserve(state.stories.size());
  for (auto& open : state.stories) {
    const Slot slot = grouper.open(open.story.id);
    grouper.stories_[slot] = std::move(open.story);
    grouper.profiles_.restore(slot, std::move(open.profile));
    for (const Member& member : grouper.stories_[slot].members) {
      grouper.items_[member.item] = slot;
      arrivals.emplace_back(member.arrival, &member);
    }
  }
  // Lists by key and by band are in order of arrival, which decides ties.
  std::ranges::sort(arrivals, {}, [](const auto& arrival) { return arrival.first; });
  const std::map<ItemId, Signature> signatures(state.signatures.begin(), state.signatures.end());
  for (const auto& [number, member] : arrivals) {
    grouper.index(*member, grouper.items_.at(member->item));
    const auto signature = signatures.find(member->item);
    if (signature != signatures.end())
      grouper.sketches_.add(member->item, sketch_of_signature(signature->second));
  }
  grouper.vocabulary_ =
      Vocabulary(std::move(state.terms), state.counted_stories, state.counted_headlines);
  for (const auto& [from, to] : state.aliases) grouper.add_alias(from, to);
  grouper.columns_ = {state.columns.begin(), state.columns.end()};
  grouper.apart_ = {state.apart.begin(), state.apart.end()};
  grouper.next_story_ = state.next_story;
  grouper.next_arrival_ = state.next_arrival;
  grouper.newest_ = state.newest;
  grouper.swept_ = state.swept;
  return grouper;
}

}  // namespace kin::stories
