#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"
#include "stories/grouper.h"
#include "stories/grouping/similarity.h"
#include "stories/grouping/vetoes.h"

namespace kin::stories {
namespace {

// Small stories are checked after every item, large ones less often.
constexpr std::uint32_t kSmall = 8;
constexpr std::uint32_t kNowAndThen = 8;
constexpr int kMostMerges = 5;
// Terms with a smaller part of a centroid's length are ignored when stories are compared.
constexpr double kLeastTerm = 0.04;
// How many items of a story are checked for vetoes against a merge.
constexpr std::size_t kSpeakers = 8;
// Stories are checked for a split when they reach 8, 16, 32 … members.
constexpr std::uint32_t kLeastSplit = 8;
constexpr std::uint32_t kLeastPart = 3;
// Below the threshold for a merge, so that a split is not undone at once.
constexpr double kSplitShare = 0.75;

constexpr bool is_power_of_two(std::uint32_t number) {
  return (number & (number - 1)) == 0;
}

void add(Centroid& centroid, const TermVector& vector) {
  for (const TermWeight& part : vector) {
    auto at = std::ranges::lower_bound(centroid.terms, part.term, {}, &CentroidTerm::term);
    if (at == centroid.terms.end() || at->term != part.term)
      at = centroid.terms.insert(at, {part.term, 0, 0});
    centroid.square += (2.0 * at->weight + part.weight) * part.weight;
    at->weight += part.weight;
  }
}

double cosine(const TermVector& vector, const Centroid& centroid) {
  if (centroid.square <= 0) return 0;
  return compare(vector, centroid).product / std::sqrt(centroid.square);
}

const Member& least_like(const Story& story, const Centroid& centroid) {
  return *std::ranges::min_element(story.members, {}, [&](const Member& member) {
    return cosine(member.features.title, centroid);
  });
}

// 2-means by cosine. Returns the members of the second part.
class Halves {
 public:
  Halves(const Story& story, const Centroid& whole) : story_(story), second_(story.size()) {
    add(parts_[0], least_like(story, whole).features.title);
    add(parts_[1], least_like(story, parts_[0]).features.title);
    constexpr int kRounds = 4;
    for (int round = 0; round < kRounds; ++round) assign();
  }

  bool is_second(std::size_t member) const { return second_[member]; }
  std::uint32_t size_of_second() const {
    return static_cast<std::uint32_t>(std::ranges::count(second_, true));
  }
  double score() const { return merge_score(compare(parts_[0], parts_[1]), parts_[0], parts_[1]); }

 private:
  void assign() {
    std::array<Centroid, 2> sums;
    for (std::size_t i = 0; i < story_.members.size(); ++i) {
      const TermVector& title = story_.members[i].features.title;
      second_[i] = cosine(title, parts_[1]) > cosine(title, parts_[0]);
      add(sums[second_[i] ? 1 : 0], title);
    }
    parts_ = std::move(sums);
  }

  const Story& story_;
  std::array<Centroid, 2> parts_;
  std::vector<bool> second_;
};

}  // namespace

void Grouper::repair(Slot slot) {
  const std::uint32_t size = stories_[slot].size();
  if (size > kSmall && size % kNowAndThen != 0) return;
  if (size >= kLeastSplit && is_power_of_two(size)) split_if_loose(slot);
  std::optional<Slot> changed = slot;
  for (int merges = 0; merges < kMostMerges && changed; ++merges) changed = merge_once(*changed);
}

std::optional<Grouper::Slot> Grouper::merge_once(Slot slot) {
  candidates_.clear();
  for (const Centroids::Near& near : titles_.near(slot, kLeastTerm)) {
    const double score = merge_score(slot, near.slot, near);
    if (score >= settings_.merge_threshold) candidates_.push_back({near.slot, score});
  }
  std::ranges::sort(candidates_, [&](const Candidate& a, const Candidate& b) {
    return a.score != b.score ? a.score > b.score : stories_[a.slot].id < stories_[b.slot].id;
  });
  for (const Candidate& candidate : candidates_) {
    const Story& a = stories_[slot];
    const Story& b = stories_[candidate.slot];
    if (!may_merge(a, b)) continue;
    const bool a_is_smaller = a.size() < b.size();
    if (is_vetoed(a_is_smaller ? a : b, a_is_smaller ? candidate.slot : slot)) continue;
    return merge(slot, candidate.slot);
  }
  return {};
}

double Grouper::merge_score(Slot a, Slot b, const Centroids::Near& titles) const {
  double score = stories::merge_score(titles, titles_.at(a), titles_.at(b));
  if (!texts_.empty(a) && !texts_.empty(b)) {
    const double texts =
        stories::merge_score(compare(texts_.at(a), texts_.at(b)), texts_.at(a), texts_.at(b));
    score = combined(score, texts, settings_);
  }
  if (score < settings_.merge_threshold) return 0;
  return score * fade(stories_[a], stories_[b].first, stories_[b].last);
}

bool Grouper::may_merge(const Story& a, const Story& b) const {
  // Two single items were compared when the second one arrived, with a smaller discount.
  if (a.size() == 1 && b.size() == 1) return false;
  return !are_apart(a.id, b.id);
}

bool Grouper::is_vetoed(const Story& small, Slot large) const {
  const auto vetoed = [&](const Member& member) {
    return find_veto(member, stories_[large], titles_.at(large), settings_).has_value();
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
  titles_.merge(from, into);
  texts_.merge(from, into);
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

void Grouper::split_if_loose(Slot slot) {
  const Story& story = stories_[slot];
  if (story.fixed) return;
  const Halves halves(story, titles_.at(slot));
  const std::uint32_t second = halves.size_of_second();
  if (second < kLeastPart || story.size() - second < kLeastPart) return;
  if (halves.score() >= kSplitShare * settings_.merge_threshold) return;
  bool leaving = true;
  std::array<std::vector<ItemId>, 2> parts;
  for (std::size_t i = 0; i < story.members.size(); ++i) {
    const ItemId item = story.members[i].item;
    if (item == story.representative) leaving = !halves.is_second(i);
    parts[halves.is_second(i) ? 1 : 0].push_back(item);
  }
  // open_next() may move the stories, so the reference is not used after it.
  const StoryId whole = story.id;
  const Slot to = open_next();
  copy_apart(whole, stories_[to].id);
  move_out(slot, parts[leaving ? 1 : 0], to);
}

void Grouper::move_out(Slot from, std::span<const ItemId> items, Slot to) {
  for (Member& member : stories_[from].take(items)) {
    const ItemId item = member.item;
    stories_[to].add(std::move(member));
    items_[item] = to;
    changes_.push_back({Change::Kind::kMoved, stories_[to].id, stories_[from].id, item});
  }
  for (const Slot slot : {from, to}) {
    rebuild(slot);
    replace_lost_representative(slot);
  }
}

void Grouper::replace_lost_representative(Slot slot) {
  Story& story = stories_[slot];
  if (story.find(story.representative) != nullptr) return;
  // best_representative() prefers the present one, which must be a member.
  story.representative = story.members.front().item;
  story.representative = story.best_representative();
  changes_.push_back({Change::Kind::kRepresentative, story.id, kNoStory, story.representative});
}

void Grouper::rebuild(Slot slot) {
  titles_.clear(slot);
  texts_.clear(slot);
  for (const Member& member : stories_[slot].members) {
    titles_.add(slot, member.features.title);
    texts_.add(slot, member.features.text);
  }
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

void Grouper::copy_apart(StoryId from, StoryId to) {
  std::vector<StoryId> others;
  for (const auto& [a, b] : apart_) {
    if (a == from || b == from) others.push_back(a == from ? b : a);
  }
  for (const StoryId other : others) apart_.insert(std::minmax(other, to));
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
                 "one of the stories is closed: it is too old, or was never there"};
  const Slot first = slot_a->second;
  const Slot second = slot_b->second;
  if (!stories_[first].grouped || !stories_[second].grouped)
    return Error{Code::kFailedPrecondition,
                 "one of the stories is of a feed that is not to be grouped (switch grouping on)"};
  if (first == second) {
    stories_[first].fixed = true;
    return stories_[first].id;
  }
  apart_.erase(std::minmax(stories_[first].id, stories_[second].id));
  const Slot slot = merge(first, second);
  stories_[slot].fixed = true;
  return stories_[slot].id;
}

// Closes no stories: adopted items come in any order, and their stories were open.
void Grouper::adopt(const Item& item, const Adopted& place) {
  if (items_.contains(item.id)) return;
  if (next_arrival_ == 0) swept_ = newest_ = item.published_at;
  newest_ = std::max(newest_, item.published_at);
  Member member = describe(item);
  member.tier = place.tier;
  member.similarity = place.similarity;
  const auto known = slots_.find(place.story);
  const Slot slot = known == slots_.end() ? open(place.story) : known->second;
  next_story_ = std::max(next_story_, number(place.story) + 1);
  stories_[slot].grouped = item.grouped;
  stories_[slot].fixed |= place.fixed;
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
  for (const Member& member : stories_[slot].take(std::array{item})) unindex(member);
  rebuild(slot);
  replace_lost_representative(slot);
  return true;
}

}  // namespace kin::stories
