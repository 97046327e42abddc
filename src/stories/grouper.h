// The grouping engine: assigns each item to a story when it arrives.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/huge_vector.h"
#include "base/result.h"
#include "stories/grouping/features.h"
#include "stories/grouping/meaning.h"
#include "stories/grouping/profiles.h"
#include "stories/grouping/sketch_index.h"
#include "stories/grouping/text_sketch.h"
#include "stories/grouping/vocabulary.h"
#include "stories/item.h"
#include "stories/settings.h"
#include "stories/story.h"

namespace kin::stories {

// The story of an item, and why it is there.
struct Placement {
  StoryId story = kNoStory;
  // 1 for an item that opened its story or is the same page as another. Else the similarity of item
  // and story when it joined: Jaccard for kRepublished, a score (rarely above 0.6) for kStory.
  double similarity = 1;
  Tier tier = Tier::kOpened;
  bool is_representative = false;
};

// A change to earlier items and stories. Callers that store placements apply changes in order.
struct Change {
  enum class Kind : std::uint8_t {
    kMerged,          // `other` was merged into `story` and is an alias of it now
    kMoved,           // `item` moved from `other` to `story`
    kRepresentative,  // `item` represents `story` now
    kClosed,          // `story` was closed
  };
  Kind kind{};
  StoryId story = kNoStory;
  StoryId other = kNoStory;
  ItemId item{};
  friend bool operator==(const Change&, const Change&) = default;
};

// A stored placement, for a grouper that is rebuilt without its earlier state.
struct Adopted {
  StoryId story = kNoStory;
  Tier tier = Tier::kOpened;
  double similarity = 1;
  bool is_representative = false;
};

// The complete state of a grouper, for export_state() and restore(). Term ids are indexes into
// `terms`. state_format.h encodes it.
struct GrouperState {
  struct OpenStory {
    Story story;
    Profile profile;
    friend bool operator==(const OpenStory&, const OpenStory&) = default;
  };
  std::vector<Vocabulary::Term> terms;
  double counted_stories = 0;
  double counted_headlines = 0;
  std::uint64_t next_story = 1;
  std::uint64_t next_arrival = 0;
  UnixSeconds newest = 0;
  UnixSeconds swept = 0;
  std::vector<OpenStory> stories;                        // by id
  std::vector<std::pair<ItemId, Signature>> signatures;  // by item
  std::vector<std::pair<StoryId, StoryId>> aliases;      // from, to; by the first
  std::vector<std::pair<StoryId, StoryId>> apart;        // pairs that are never merged; sorted
  std::vector<std::pair<std::uint64_t, UnixSeconds>> columns;  // key and last time; by key
  MeaningReader::State meaning;
  friend bool operator==(const GrouperState&, const GrouperState&) = default;
};

// Groups in tiers: the same page, guid or title; republished text; then the story whose profile is
// most similar to the item, if the score reaches the threshold and there is no veto. Items are
// compared with whole stories, never with single items, so stories do not chain. Each addition may
// merge its story with another; ids stay valid through aliases. Nothing splits a story but the
// user. docs/adr/0020-evidence-from-the-stream.md explains the scores.
//
// Time is the publication time of the items, which should arrive roughly in order. A late item
// joins stories of its time if they are still open. An item dated in the future would close all
// other stories, so callers must clamp such dates. The same items in the same order give the same
// stories, also if the state is exported and restored in between. One thread only.
class Grouper {
 public:
  using Model = std::shared_ptr<const embed::Embedder>;

  // `settings` must pass check(). `model` gives the vectors of meaning; without one, words decide
  // alone.
  explicit Grouper(Settings settings = {}, Model model = nullptr);
  // kDataLoss if the state is inconsistent, kFailedPrecondition if it was made with another model.
  static Result<Grouper> restore(Settings settings, GrouperState state, Model model = nullptr);
  GrouperState export_state() const;

  // Adds an item. An item that is already known keeps its placement.
  Placement add(const Item& item);

  // "Not this story": moves the item to a new story, which is never merged with the old one.
  Result<StoryId> separate(ItemId item);
  // "Same story": merges the two under the older id. Both must be open.
  Result<StoryId> unite(StoryId a, StoryId b);

  // Adds an item with a stored placement. An item that is already known keeps its placement.
  void adopt(const Item& item, const Adopted& place);
  // Removes an item, and closes its story if that is empty. False if the item is in no open story.
  bool forget(ItemId item);
  // Reserves an id for a story that this grouper does not keep.
  StoryId reserve_story() { return StoryId{next_story_++}; }

  // The placement of an item in an open story; otherwise nothing.
  std::optional<Placement> find(ItemId item) const;
  // An open story by id or alias; otherwise nullptr. Valid until the next non-const call.
  const Story* story(StoryId id) const;
  // The story that `id` was merged into, or `id` itself.
  StoryId resolve(StoryId id) const;
  // Nothing if the item is unknown or has too few words.
  std::optional<TextSketch> sketch(ItemId item) const { return sketches_.find(item); }
  std::size_t open_stories() const { return slots_.size(); }
  std::size_t open_items() const { return items_.size(); }
  std::vector<StoryId> open_story_ids() const;  // sorted
  std::uint64_t next_story() const { return next_story_; }

  // Returns the changes since the last call.
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

  Member describe(const Item& item, bool& is_column);
  bool is_column(std::uint64_t key, UnixSeconds time);
  std::optional<Choice> choose(const Member& member, const std::optional<TextSketch>& sketch,
                               bool is_column);
  std::optional<Choice> same_page(const Member& member, bool is_column) const;
  std::optional<Choice> same_text(const Member& member, const TextSketch& sketch) const;
  std::optional<Choice> same_story(const Member& member);
  void score_stories(const Member& member);
  void sort_candidates();

  Slot open(StoryId id);
  Slot open_next() { return open(StoryId{next_story_++}); }
  void close(Slot slot);
  void join(Slot slot, Member member);
  void index(const Member& member, Slot slot);
  void unindex(const Member& member);
  void update_representative(Slot slot);
  void advance(UnixSeconds time);
  void close_old();
  void fade_terms();
  Placement placement(Slot slot, const Member& member) const;

  // merging.cc
  void merge_if_alike(Slot slot);
  bool may_merge(const Story& a, const Story& b) const;
  // True if the story had no item for too long before `time` to be merged with one that had.
  bool is_over(const Story& story, UnixSeconds time) const;
  bool is_vetoed(const Story& small, Slot large) const;
  Slot merge(Slot a, Slot b);

  // corrections.cc
  void move_out(Slot from, std::span<const ItemId> items, Slot to);
  void replace_lost_representative(Slot slot);
  bool are_apart(StoryId a, StoryId b) const;
  void add_alias(StoryId from, StoryId to);
  void rename_apart(StoryId from, StoryId to);
  Status check_state(const GrouperState& state) const;

  Settings settings_;
  Vocabulary vocabulary_;
  FeatureReader reader_;
  TextSketcher sketcher_;
  HugeVector<Story> stories_;  // by slot
  std::vector<Slot> free_;
  std::unordered_map<StoryId, Slot> slots_;
  std::unordered_map<ItemId, Slot> items_;
  std::unordered_map<std::uint64_t, std::vector<ItemId>> keys_;  // in order of arrival
  Profiles profiles_;
  MeaningReader meaning_;
  SketchIndex sketches_;
  std::map<StoryId, StoryId> aliases_;
  std::unordered_map<StoryId, std::vector<StoryId>> aliases_of_;
  std::set<std::pair<StoryId, StoryId>> apart_;  // the lower id first
  std::vector<Change> changes_;
  std::vector<Candidate> candidates_;
  std::unordered_map<std::uint64_t, UnixSeconds> columns_;  // the last time of a title
  Query query_;
  std::uint64_t next_story_ = 1;
  std::uint64_t next_arrival_ = 0;
  UnixSeconds newest_ = 0;
  UnixSeconds swept_ = 0;
};

}  // namespace kin::stories
