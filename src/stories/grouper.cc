#include "stories/grouper.h"

#include <algorithm>

#include "base/check.h"
#include "base/hash.h"
#include "stories/grouping/canonical_url.h"
#include "stories/grouping/similarity.h"
#include "stories/grouping/vetoes.h"

namespace kin::stories {
namespace {

// How many stories an item is compared with before it opens a new one.
constexpr std::size_t kMostTried = 8;
constexpr std::size_t kMeantBytes = 600;

// Seeds that keep the hashes of addresses, guids and titles apart.
constexpr std::uint64_t kAddressKey = 11;
constexpr std::uint64_t kGuidKey = 12;
constexpr std::uint64_t kTitleKey = 13;

// Some feeds link every item to the front page, so its address does not identify an item.
bool is_front_page(std::string_view address) {
  return address.find_first_of("/?") == std::string_view::npos;
}

// The time between two spans; 0 if they overlap.
UnixSeconds gap(UnixSeconds from_a, UnixSeconds to_a, UnixSeconds from_b, UnixSeconds to_b) {
  return std::max<UnixSeconds>({0, from_a - to_b, from_b - to_a});
}

}  // namespace

Grouper::Grouper(Settings settings, Model model)
    : settings_(std::move(settings)), meaning_(std::move(model)) {
  KIN_CHECK(check(settings_).ok(), "settings must be checked first");
}

Placement Grouper::add(const Item& item) {
  if (const auto known = find(item.id)) return *known;
  advance(item.published_at);
  bool is_column = false;
  Member member = describe(item, is_column);
  if (!item.grouped) {
    member.tier = Tier::kUngrouped;
    const Slot slot = open_next();
    stories_[slot].grouped = false;
    join(slot, std::move(member));
    return placement(slot, stories_[slot].members.back());
  }
  const auto sketch = sketcher_.sketch(item);
  const auto choice = choose(member, sketch, is_column);
  if (choice) {
    member.tier = choice->tier;
    member.similarity = choice->similarity;
  }
  const Slot slot = choice ? choice->slot : open_next();
  stories_[slot].column |= is_column;
  join(slot, std::move(member));
  if (sketch) sketches_.add(item.id, *sketch);
  merge_if_alike(slot);
  return *find(item.id);
}

Member Grouper::describe(const Item& item, bool& is_column) {
  Member member;
  member.item = item.id;
  member.arrival = next_arrival_++;
  member.published_at = item.published_at;
  if (!item.source.empty()) member.source = hash64(item.source);
  const auto& preferred = settings_.preferred_sources;
  member.rank =
      static_cast<std::uint32_t>(std::ranges::find(preferred, item.source) - preferred.begin());
  Reading reading = reader_.read(item, vocabulary_);
  member.features = std::move(reading.features);
  if (!item.grouped) return member;
  if (reading.english >= settings_.scoring.english)
    member.features.meaning = meaning_.read(bare_title(item.title, item.source),
                                            std::string_view(item.summary).substr(0, kMeantBytes));
  is_column = this->is_column(reading.column_key, item.published_at);
  read_query(member.features, vocabulary_, query_);
  member.length = query_.length;
  const std::string address = canonical_url(item.url);
  if (!is_front_page(address)) member.keys.push_back(hash64(address, kAddressKey));
  if (!item.guid.empty()) member.keys.push_back(hash64(item.guid, hash64(item.source, kGuidKey)));
  if (member.features.title_key != 0)
    member.keys.push_back(mix64(member.features.title_key ^ kTitleKey));
  return member;
}

bool Grouper::is_column(std::uint64_t key, UnixSeconds time) {
  constexpr UnixSeconds kApart = 10 * 3600;
  if (key == 0) return false;
  const auto [found, is_new] = columns_.try_emplace(key, time);
  const bool returned = !is_new && time - found->second >= kApart;
  found->second = std::max(found->second, time);
  return returned;
}

std::optional<Grouper::Choice> Grouper::choose(const Member& member,
                                               const std::optional<TextSketch>& sketch,
                                               bool is_column) {
  if (const auto same = same_page(member, is_column)) return same;
  if (is_column) return {};
  if (sketch) {
    if (const auto same = same_text(member, *sketch)) return same;
  }
  return same_story(member);
}

std::optional<Grouper::Choice> Grouper::same_page(const Member& member, bool is_column) const {
  for (const std::uint64_t key : member.keys) {
    const auto found = keys_.find(key);
    if (found == keys_.end()) continue;
    // The newest item with this key: older stories may have had the same title.
    const Slot slot = items_.at(found->second.back());
    const bool by_title = key == mix64(member.features.title_key ^ kTitleKey);
    if (by_title && (is_column || find_veto(member, stories_[slot], profiles_.at(slot), settings_)))
      continue;
    return Choice{.slot = slot, .similarity = 1, .tier = Tier::kIdentity};
  }
  return {};
}

std::optional<Grouper::Choice> Grouper::same_text(const Member& member,
                                                  const TextSketch& sketch) const {
  const auto match = sketches_.best(sketch, settings_.copy_threshold);
  if (!match) return {};
  const Slot slot = items_.at(match->item);
  if (profiles_.empty(slot)) return {};
  if (find_veto(member, stories_[slot], profiles_.at(slot), settings_)) return {};
  return Choice{.slot = slot, .similarity = match->similarity, .tier = Tier::kRepublished};
}

std::optional<Grouper::Choice> Grouper::same_story(const Member& member) {
  score_stories(member);
  sort_candidates();
  // Vetoes look at names and numbers, which costs more than a score.
  if (candidates_.size() > kMostTried) candidates_.resize(kMostTried);
  for (const Candidate& candidate : candidates_) {
    const Story& story = stories_[candidate.slot];
    if (find_veto(member, story, profiles_.at(candidate.slot), settings_)) continue;
    // Scores go up to the factor of terms alone.
    return Choice{.slot = candidate.slot,
                  .similarity = std::min(1.0, candidate.score / settings_.scoring.terms_alone),
                  .tier = Tier::kStory};
  }
  return {};
}

void Grouper::sort_candidates() {
  std::ranges::sort(candidates_, [&](const Candidate& a, const Candidate& b) {
    return a.score != b.score ? a.score > b.score : stories_[a.slot].id < stories_[b.slot].id;
  });
}

void Grouper::score_stories(const Member& member) {
  const UnixSeconds window = std::chrono::seconds(settings_.window).count();
  const double least = settings_.join_score();
  MeaningSum meaning;
  meaning.add(member.features.meaning);
  read_query(member.features, vocabulary_, query_);
  const Joining item{query_, meaning, vocabulary_.chance()};
  const auto time_to = [&](Slot slot) {
    return gap(stories_[slot].first, stories_[slot].last, member.published_at, member.published_at);
  };
  const auto is_open = [&](Slot slot) { return time_to(slot) <= window; };
  candidates_.clear();
  const auto matches = profiles_.near(query_, join_reach(settings_, item), is_open);
  for (const Profiles::Match& match : matches)
    __builtin_prefetch(profiles_.at(match.slot).meaning.values.data());
  for (const Profiles::Match& match : matches) {
    const Profile& profile = profiles_.at(match.slot);
    double score = join_score(item, match, profile, settings_.scoring);
    if (score < least) continue;
    score *= faded(time_to(match.slot), settings_);
    const bool same_source = member.source != 0 && stories_[match.slot].has_source(member.source);
    score *= same_source ? settings_.scoring.same_source
                         : column_factor(query_, profile, settings_.scoring);
    if (score >= least) candidates_.push_back({match.slot, score});
  }
}

Grouper::Slot Grouper::open(StoryId id) {
  // Slots are emptied when they become free.
  if (free_.empty()) {
    free_.push_back(static_cast<Slot>(stories_.size()));
    stories_.emplace_back();
  }
  const Slot slot = free_.back();
  free_.pop_back();
  stories_[slot].id = id;
  slots_.emplace(id, slot);
  vocabulary_.count_story();
  return slot;
}

void Grouper::join(Slot slot, Member member) {
  Story& story = stories_[slot];
  if (story.grouped) {
    vocabulary_.count_headline();
    profiles_.add(slot, member.features, member.length, vocabulary_);
  }
  index(member, slot);
  story.add(std::move(member));
  if (story.size() == 1) story.representative = story.members.front().item;
  update_representative(slot);
}

void Grouper::index(const Member& member, Slot slot) {
  items_[member.item] = slot;
  for (const std::uint64_t key : member.keys) keys_[key].push_back(member.item);
}

void Grouper::unindex(const Member& member) {
  items_.erase(member.item);
  sketches_.remove(member.item);
  for (const std::uint64_t key : member.keys) {
    const auto found = keys_.find(key);
    std::erase(found->second, member.item);
    if (found->second.empty()) keys_.erase(found);
  }
}

void Grouper::update_representative(Slot slot) {
  if (settings_.preferred_sources.empty()) return;
  Story& story = stories_[slot];
  const ItemId best = story.best_representative();
  if (best == story.representative) return;
  story.representative = best;
  changes_.push_back({Change::Kind::kRepresentative, story.id, kNoStory, best});
}

// Sweeping only every sixteenth of the window keeps sweeps rare. Stories close that much late at
// most.
void Grouper::advance(UnixSeconds time) {
  // The first item sets the time; a late one does not turn it back.
  newest_ = next_arrival_ == 0 ? time : std::max(newest_, time);
  if (next_arrival_ == 0) swept_ = time;
  const UnixSeconds window = std::chrono::seconds(settings_.window).count();
  if (newest_ - swept_ >= window / 16) close_old();
  fade_terms();
}

void Grouper::close_old() {
  swept_ = newest_;
  const UnixSeconds window = std::chrono::seconds(settings_.window).count();
  std::vector<StoryId> old;
  for (const Story& story : stories_) {
    if (story.id != kNoStory && newest_ - story.last > window) old.push_back(story.id);
  }
  // By id and not by slot, because a restored grouper has other slots.
  std::ranges::sort(old);
  for (const StoryId id : old) close(slots_.at(id));
  // A weekly column is remembered until it returns.
  constexpr UnixSeconds kColumns = 8 * 24 * 3600;
  std::erase_if(columns_, [&](const auto& column) { return newest_ - column.second > kColumns; });
}

void Grouper::fade_terms() {
  vocabulary_.fade(slots_.size(), [&](TermId term) { return profiles_.has(term); });
}

void Grouper::close(Slot slot) {
  const StoryId id = stories_[slot].id;
  for (const Member& member : stories_[slot].members) unindex(member);
  profiles_.clear(slot);
  stories_[slot] = {};
  slots_.erase(id);
  free_.push_back(slot);
  // Aliases of a closed story lead nowhere.
  if (const auto found = aliases_of_.find(id); found != aliases_of_.end()) {
    for (const StoryId alias : found->second) aliases_.erase(alias);
    aliases_of_.erase(found);
  }
  std::erase_if(apart_, [&](const auto& pair) { return pair.first == id || pair.second == id; });
  changes_.push_back({Change::Kind::kClosed, id, kNoStory, {}});
}

Placement Grouper::placement(Slot slot, const Member& member) const {
  return {.story = stories_[slot].id,
          .similarity = member.similarity,
          .tier = member.tier,
          .is_representative = stories_[slot].representative == member.item};
}

std::optional<Placement> Grouper::find(ItemId item) const {
  const auto found = items_.find(item);
  if (found == items_.end()) return {};
  return placement(found->second, *stories_[found->second].find(item));
}

const Story* Grouper::story(StoryId id) const {
  const auto found = slots_.find(resolve(id));
  return found == slots_.end() ? nullptr : &stories_[found->second];
}

std::vector<StoryId> Grouper::open_story_ids() const {
  std::vector<StoryId> ids;
  ids.reserve(slots_.size());
  for (const auto& [id, slot] : slots_) ids.push_back(id);
  std::ranges::sort(ids);
  return ids;
}

StoryId Grouper::resolve(StoryId id) const {
  const auto found = aliases_.find(id);
  return found == aliases_.end() ? id : found->second;
}

}  // namespace kin::stories
