// A reader's view of a shard: truth, text and vectors as of one moment.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "index/text/view.h"
#include "index/truth/doc_set.h"
#include "index/truth/view.h"
#include "index/vector_index.h"
#include "index/vector_source.h"

namespace kin::index {

// The vectors of one space as of a view. Ids of hits are document numbers of entities.
struct SpaceView {
  std::string name = {};
  std::uint64_t generation = 0;
  std::shared_ptr<const VectorIndex> index = {};
  VectorOrigin origin = VectorOrigin::kGiven;
  std::shared_ptr<const VectorSource> source = {};  // null: queries bring their vector

  // The index is shared with newer views. It may hold numbers that are not in this view yet, and
  // numbers that are retired in it.
  std::uint32_t below = 0;                                         // the view's numbers are below
  std::shared_ptr<const std::vector<std::uint32_t>> retired = {};  // still in the index; in order
};

// A partition whose documents are known by number, so that a search need not look for them to leave
// them out.
struct PartitionApart {
  std::shared_ptr<const DocSet> numbers = {};
  // Text segments of these documents alone, which most of them may be in; or kNoSection.
  TextSection section = kNoSection;
};
using PartitionsApart = std::map<PartitionId, PartitionApart>;

// Never changes, and holds whole entities only, whatever is written meanwhile. The shard outlives
// it and keeps overwritten data for it, so drop it soon. Thread-safe.
class ShardView {
 public:
  struct State {
    TruthView truth;
    TextView text;
    std::vector<SpaceView> spaces = {};
    // Every partition that has an entity is among them. Null: not known.
    std::shared_ptr<const std::set<PartitionId>> partitions = {};
    std::shared_ptr<const PartitionsApart> apart = {};  // null: none
  };

  explicit ShardView(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  const TruthView& truth() const { return state_->truth; }
  const TextView& text() const { return state_->text; }
  const std::vector<SpaceView>& spaces() const { return state_->spaces; }
  Lsn lsn() const { return truth().lsn(); }
  // Whether all entities are in these partitions. False also where that is not known.
  bool is_within(const std::set<PartitionId>& partitions) const;
  // The documents of all other partitions; nothing where they are not all known.
  std::optional<std::vector<std::shared_ptr<const DocSet>>> known_outside(
      const std::set<PartitionId>& partitions) const;
  // The sections of other partitions: neither searches nor statistics of `partitions` need them.
  // Nothing: of no partition.
  TextSections sections_outside(const std::optional<std::set<PartitionId>>& partitions) const;

  // An empty name means the first space. kNotFound, with the existing names, if there is none.
  Result<const SpaceView*> space(std::string_view name) const;

  // The nearest entities of the view.
  Result<std::vector<VectorHit>> nearest(const SpaceView& space, std::span<const float> query,
                                         VectorSearch how) const;
  // The vector of one entity; nothing if it has none in the space.
  Result<std::optional<std::vector<float>>> vector(const SpaceView& space, DocNumber number) const;

 private:
  std::shared_ptr<const State> state_;
};

}  // namespace kin::index
