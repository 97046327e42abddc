#include <algorithm>
#include <bit>
#include <cstdlib>

#include "stories/grouper.h"
#include "stories/grouping/similarity.h"
#include "stories/grouping/vetoes.h"

namespace kin::stories {
namespace {

// How many items of a story are checked for vetoes against a merge.
constexpr std::size_t kSpeakers = 8;

// Small stories are compared with others after every item, larger ones when they have 6, 8, 12, 16,
// 24 … members.
constexpr bool is_due(std::uint32_t size) {
  constexpr std::uint32_t kSmall = 4;
  if (size <= kSmall) return true;
  const std::uint32_t odd = size >> std::countr_zero(size);
  return odd == 1 || odd == 3;
}

}  // namespace

void Grouper::merge_if_alike(Slot slot) {
  if (!is_due(stories_[slot].size()) || stories_[slot].column) return;
  read_query(profiles_.at(slot), vocabulary_, query_);
  const Profile& profile = profiles_.at(slot);
  const MeaningSum none;
  const Joining story{query_, profile.has_meaning() ? profile.meaning : none, vocabulary_.chance()};
  const auto may_be_merged = [&](Slot other) {
    return other != slot && may_merge(stories_[slot], stories_[other]);
  };
  candidates_.clear();
  for (const Profiles::Match& match :
       profiles_.near(query_, merge_reach(settings_, story), may_be_merged)) {
    const double score = merge_score(story, match, profiles_.at(match.slot), settings_.scoring);
    if (score >= settings_.merge_score()) candidates_.push_back({match.slot, score});
  }
  sort_candidates();
  for (const Candidate& candidate : candidates_) {
    const bool is_smaller = stories_[slot].size() < stories_[candidate.slot].size();
    const Slot small = is_smaller ? slot : candidate.slot;
    if (is_vetoed(stories_[small], is_smaller ? candidate.slot : slot)) continue;
    if (are_about_others({stories_[slot], profiles_.at(slot)},
                         {stories_[candidate.slot], profiles_.at(candidate.slot)}))
      continue;
    merge(slot, candidate.slot);
    return;
  }
}

bool Grouper::is_over(const Story& story, UnixSeconds time) const {
  // One item does not show how often the story has one.
  constexpr std::uint32_t kLeastItems = 2;
  constexpr UnixSeconds kIntervals = 3;
  if (story.size() < kLeastItems) return false;
  const UnixSeconds pause = std::chrono::seconds(settings_.scoring.pause).count();
  const UnixSeconds usual = (story.last - story.first) / (story.size() - 1);
  return time - story.last > std::max(pause, kIntervals * usual);
}

bool Grouper::may_merge(const Story& a, const Story& b) const {
  // Stories that ended at different times are mostly two events of one kind.
  const UnixSeconds within = std::chrono::seconds(settings_.scoring.merge_within).count();
  if (a.column || b.column || std::abs(a.last - b.last) > within) return false;
  if (is_over(a, b.last) || is_over(b, a.last)) return false;
  return !are_apart(a.id, b.id);
}

bool Grouper::is_vetoed(const Story& small, Slot large) const {
  const auto vetoed = [&](const Member& member) {
    return find_veto(member, stories_[large], profiles_.at(large), settings_).has_value();
  };
  if (settings_.one_per_source) return std::ranges::any_of(small.members, vetoed);
  const auto speakers = std::span(small.members).first(std::min(small.members.size(), kSpeakers));
  return 2 * static_cast<std::size_t>(std::ranges::count_if(speakers, vetoed)) >= speakers.size();
}

Grouper::Slot Grouper::merge(Slot a, Slot b) {
  // The older id stays, because more has been stored under it.
  const Slot into = stories_[a].id < stories_[b].id ? a : b;
  const Slot from = into == a ? b : a;
  const StoryId kept = stories_[into].id;
  const StoryId gone = stories_[from].id;
  profiles_.merge(from, into, vocabulary_);
  vocabulary_.uncount_story();
  for (const Member& member : stories_[from].members) items_[member.item] = into;
  stories_[into].add_all(std::exchange(stories_[from], {}));
  slots_.erase(gone);
  free_.push_back(from);
  // Aliases lead to the story in one step.
  for (const StoryId alias : std::exchange(aliases_of_[gone], {})) add_alias(alias, kept);
  aliases_of_.erase(gone);
  add_alias(gone, kept);
  rename_apart(gone, kept);
  changes_.push_back({Change::Kind::kMerged, kept, gone, {}});
  update_representative(into);
  return into;
}

}  // namespace kin::stories
