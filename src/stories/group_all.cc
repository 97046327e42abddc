#include "stories/group_all.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace kin::stories {
namespace {

// Follows the changes of a grouper, which forgets stories when it closes them.
class Outcome {
 public:
  void apply(const Change& change) {
    switch (change.kind) {
      case Change::Kind::kMerged: into_[change.other] = change.story; return;
      case Change::Kind::kMoved: placements_.at(change.item).story = change.story; return;
      case Change::Kind::kRepresentative: represent(change.story, change.item); return;
      case Change::Kind::kClosed: return;
    }
  }

  void place(ItemId item, const Placement& placement) { placements_[item] = placement; }
  void represent(StoryId story, ItemId item) { representatives_[story] = item; }

  Placement at(ItemId item) {
    Placement placement = placements_.at(item);
    // Merges of stories that are closed by now are only known here.
    placement.story = resolve(placement.story);
    placement.is_representative = representatives_.at(placement.story) == item;
    return placement;
  }

 private:
  StoryId resolve(StoryId story) const {
    // A story may be merged into one that was merged later.
    for (auto found = into_.find(story); found != into_.end(); found = into_.find(story))
      story = found->second;
    return story;
  }

  std::unordered_map<ItemId, Placement> placements_;
  std::unordered_map<StoryId, ItemId> representatives_;
  std::unordered_map<StoryId, StoryId> into_;
};

}  // namespace

Result<std::vector<Placement>> group_all(std::span<const Item> items, const Settings& settings,
                                         const Grouper::Model& model) {
  KIN_RETURN_IF_ERROR(check(settings));
  std::vector<std::size_t> order(items.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // The grouper wants items roughly in order of time, and gives the same result for the same order.
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return items[i].published_at; });
  Grouper grouper(settings, model);
  Outcome outcome;
  std::unordered_map<ItemId, std::size_t> seen;
  for (const std::size_t i : order) {
    if (const auto [twin, fresh] = seen.emplace(items[i].id, i); !fresh)
      return Error{Code::kInvalidArgument,
                   fmt::format("two items have the id {}", number(items[i].id))};
    const Placement placement = grouper.add(items[i]);
    outcome.place(items[i].id, placement);
    if (placement.is_representative) outcome.represent(placement.story, items[i].id);
    // After each item, so that changes are applied in their order.
    for (const Change& change : grouper.take_changes()) outcome.apply(change);
  }
  std::vector<Placement> placements;
  placements.reserve(items.size());
  for (const Item& item : items) placements.push_back(outcome.at(item.id));
  return placements;
}

}  // namespace kin::stories
