// Which headlines are one story? Each item gets its story when it arrives.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "stories/grouping/centroids.h"
#include "stories/grouping/features.h"
#include "stories/grouping/text_sketch.h"
#include "stories/grouping/vocabulary.h"
#include "stories/item.h"
#include "stories/settings.h"
#include "stories/story.h"

namespace kin::stories {

// Where an item is.
struct Placement {
  StoryId story = kNoStory;
  // 1 for an item that opened its story or is the same page as another; else how alike item and
  // story were when it joined: of texts the Jaccard similarity, of words a cosine that is rarely
  // above 0.7.
  double similarity = 1;
  Tier tier = Tier::kOpened;
  bool is_representative = false;
};

// What became of earlier items and stories. Whoever stores placements applies these in order.
struct Change {
  enum class Kind : std::uint8_t {
    kMerged,          // `other` is part of `story` from now on: an alias of it
    kMoved,           // `item` went from `other` to `story`
    kRepresentative,  // `item` represents `story`
    kClosed,          // `story` takes no more items
  };
  Kind kind{};
  StoryId story = kNoStory;
  StoryId other = kNoStory;
  ItemId item{};
  friend bool operator==(const Change&, const Change&) = default;
};

// Where an item was put before, for a grouper that is built again without the state it had.
struct Adopted {
  StoryId story = kNoStory;
  Tier tier = Tier::kOpened;
  double similarity = 1;
  bool is_representative = false;
  bool fixed = false;  // the user put the story together
};

// Everything a grouper knows: what export_state() gives and restore() takes. Term ids are indexes
// into `terms`. state_format.h turns it into bytes and back.
struct GrouperState {
  struct OpenStory {
    Story story;
    Centroid title;
    Centroid text;
    friend bool operator==(const OpenStory&, const OpenStory&) = default;
  };
  std::vector<Vocabulary::Term> terms;
  double counted_stories = 0;
  std::uint64_t next_story = 1;
  std::uint64_t next_arrival = 0;
  UnixSeconds newest = 0;
  UnixSeconds swept = 0;
  std::vector<OpenStory> stories;                                                       // by id
  std::vector<std::pair<ItemId, std::array<std::uint32_t, kSketchHashes>>> signatures;  // by item
  std::vector<std::pair<StoryId, StoryId>> aliases;  // from, to; by the first
  std::vector<std::pair<StoryId, StoryId>> apart;    // never to be merged; sorted
  friend bool operator==(const GrouperState&, const GrouperState&) = default;
};

// Groups in tiers: the same page, guid or title; republished text; then the story whose centroid
// the title (and summary) is most like, if it is like enough and no veto speaks against it. Stories
// are compared with centroids, never with single items, so that they do not chain. Each addition
// may merge its story with another or split it; ids stay valid through aliases.
//
// Time is that of the items. They should come roughly in order; one that comes late finds the
// stories of its time if they are still open. An item of the future would close all others: callers
// with a clock move such dates back. The same items in the same order give the same stories, also
// when the state was exported and restored in between. One thread only.
class Grouper {
 public:
  // `settings` must pass check().
  explicit Grouper(Settings settings = {});
  // An error if the state contradicts itself.
  static Result<Grouper> restore(Settings settings, GrouperState state);
  GrouperState export_state() const;

  // An item that is known already keeps its place.
  Placement add(const Item& item);

  // "Not this story": the item gets a story of its own, which is never merged with the one it left.
  Result<StoryId> separate(ItemId item);
  // "Same story": merges the two and keeps them together. The older id stays. Both must be open.
  // With itself, a story is kept together from now on.
  Result<StoryId> unite(StoryId a, StoryId b);

  // Puts the item where it was, and decides nothing. An item that is known already stays.
  void adopt(const Item& item, const Adopted& place);
  // Takes the item out; its story is closed if it was the last. False if it is in no open story.
  bool forget(ItemId item);
  // A number for a story that is kept elsewhere, never to be opened here.
  StoryId reserve_story() { return StoryId{next_story_++}; }

  // Nothing once its story is closed.
  std::optional<Placement> find(ItemId item) const;
  // By id or alias; nullptr for a story that is closed or was never there. Valid until a call that
  // is not const.
  const Story* story(StoryId id) const;
  // The story that `id` stands for now: `id` itself unless it was merged.
  StoryId resolve(StoryId id) const;
  // nullptr if the item is unknown or too short to have one.
  const TextSketch* sketch(ItemId item) const { return sketches_.find(item); }
  std::size_t open_stories() const { return slots_.size(); }
  std::size_t open_items() const { return items_.size(); }
  std::vector<StoryId> open_story_ids() const;  // sorted
  std::uint64_t next_story() const { return next_story_; }

  // The changes since the last call.
  std::vector<Change> take_changes() { return std::exchange(changes_, {}); }

 private:
  using Slot = std::uint32_t;
  struct Choice {
    Slot slot = 0;
    double similarity = 0;
    Tier tier = Tier::kStory;
  };
  struct Candidate {
    Slot slot = 0;
    double score = 0;
  };

  Member describe(const Item& item);
  std::optional<Choice> choose(const Member& member, const std::optional<TextSketch>& sketch);
  std::optional<Choice> same_page(const Member& member) const;
  std::optional<Choice> same_text(const Member& member, const TextSketch& sketch) const;
  std::optional<Choice> same_story(const Member& member);
  void score_stories(const Member& member);
  double fade(const Story& story, UnixSeconds from, UnixSeconds to) const;

  Slot open(StoryId id);
  Slot open_next() { return open(StoryId{next_story_++}); }
  void close(Slot slot);
  void join(Slot slot, Member member);
  void index(const Member& member, Slot slot);
  void unindex(const Member& member);
  void update_representative(Slot slot);
  void advance(UnixSeconds time);
  Placement placement(Slot slot, const Member& member) const;

  // Repair.
  void repair(Slot slot);
  std::optional<Slot> merge_once(Slot slot);
  double merge_score(Slot a, Slot b, const Centroids::Near& titles) const;
  bool may_merge(const Story& a, const Story& b) const;
  bool is_vetoed(const Story& small, Slot large) const;
  Slot merge(Slot a, Slot b);
  void split_if_loose(Slot slot);
  void move_out(Slot from, std::span<const ItemId> items, Slot to);
  void rebuild(Slot slot);
  void replace_lost_representative(Slot slot);
  bool are_apart(StoryId a, StoryId b) const;
  void add_alias(StoryId from, StoryId to);
  void rename_apart(StoryId from, StoryId to);
  void copy_apart(StoryId from, StoryId to);
  Status check_state(const GrouperState& state) const;

  Settings settings_;
  Vocabulary vocabulary_;
  FeatureReader reader_;
  TextSketcher sketcher_;
  std::vector<Story> stories_;  // by slot
  std::vector<Slot> free_;
  std::unordered_map<StoryId, Slot> slots_;
  std::unordered_map<ItemId, Slot> items_;
  std::unordered_map<std::uint64_t, std::vector<ItemId>> keys_;  // in order of arrival
  Centroids titles_;
  Centroids texts_;
  SketchIndex sketches_;
  std::map<StoryId, StoryId> aliases_;
  std::unordered_map<StoryId, std::vector<StoryId>> aliases_of_;
  std::set<std::pair<StoryId, StoryId>> apart_;  // the lower id first
  std::vector<Change> changes_;
  std::vector<Candidate> candidates_;
  std::vector<TermId> fresh_;
  std::uint64_t next_story_ = 1;
  std::uint64_t next_arrival_ = 0;
  UnixSeconds newest_ = 0;
  UnixSeconds swept_ = 0;
};

}  // namespace kin::stories
