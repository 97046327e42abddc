// Partitions apart: those that the shard holds for another one. A copy that arrives, and one that was
// given up and is not removed yet, must not make searches slower.
#include <algorithm>
#include <unordered_map>

#include "index/shard/state.h"
#include "index/truth/owners.h"
#include "index/truth/partition_documents.h"

namespace kin::index {

// A shard that knows no owners owns all.
bool Shard::State::is_foreign(PartitionId partition) const {
  if (owners_.empty()) return false;
  const Ownership* owner = find_owner(owners_, partition);
  return owner == nullptr || !owner->owned;
}

// Who owns a partition decides whether its documents have a section of their own.
void Shard::State::follow_owners(std::span<const Change> changes) {
  const auto changes_owner = [](const Change& change) {
    return change.kind == ChangeKind::kOwnerAssigned;
  };
  if (std::ranges::none_of(changes, changes_owner)) return;
  owners_ = truth_->owners();
  if (!apart_) return;
  PartitionsApart after;
  for (const auto& [partition, before] : *apart_) {
    PartitionApart& apart = after[partition] = before;
    if (is_foreign(partition)) {
      if (apart.section == kNoSection) apart.section = text_->begin_section({});
    } else if (apart.section != kNoSection) {
      text_->end_section(apart.section);
      after.erase(partition);
    }
  }
  apart_ = std::make_shared<const PartitionsApart>(std::move(after));
}

Status Shard::State::follow_apart(const TruthView& view, std::span<const Change> changes) {
  if (!apart_ && owners_.empty()) return Done{};
  PartitionsApart after = apart_ ? *apart_ : PartitionsApart();
  for (const Change& change : changes) {
    const PartitionId partition = change.partition;
    if (change.kind == ChangeKind::kOwnerAssigned || !is_foreign(partition)) continue;
    // Nothing of a partition that is new here can be missing in its set.
    if (!after.contains(partition) && !partitions_->contains(partition)) {
      after[partition] = {.numbers = std::make_shared<const DocSet>(),
                          .section = text_->begin_section({})};
    }
  }
  if (after.empty()) return Done{};
  std::map<PartitionId, PartitionDocuments> changed;
  for (const Change& change : changes) {
    for (const auto& [partition, apart] : after) {
      auto known = changed.find(partition);
      const DocSet& numbers =
          known == changed.end() ? *apart.numbers : known->second.numbers();
      const bool retires = change.retired != kNoNumber &&
                           numbers.contains(static_cast<std::uint32_t>(change.retired));
      const bool leaves =
          change.kind == ChangeKind::kEntityAssigned && change.former == partition;
      if (!retires && !leaves && change.partition != partition) continue;
      if (known == changed.end())
        known = changed.emplace(partition, PartitionDocuments(partition, *apart.numbers)).first;
      KIN_RETURN_IF_ERROR(known->second.follow(view, change));
    }
  }
  for (auto& [partition, documents] : changed) {
    PartitionApart& apart = after[partition];
    apart.numbers = std::make_shared<const DocSet>(documents.numbers());
    if (!documents.has_lost() || apart.section == kNoSection) continue;
    // Segments of the section may hold what belongs to another partition now.
    text_->end_section(apart.section);
    apart.section = kNoSection;
  }
  apart_ = std::make_shared<const PartitionsApart>(std::move(after));
  return Done{};
}

void Shard::State::set_sections(std::span<const Change> changes,
                              std::vector<TextDocument>& documents) const {
  if (!apart_ || apart_->empty()) return;
  std::unordered_map<std::uint32_t, TextSection> sections;
  for (const Change& change : changes) {
    const auto apart = apart_->find(change.partition);
    if (apart != apart_->end() && change.kind != ChangeKind::kEntityAssigned)
      sections.emplace(static_cast<std::uint32_t>(change.number), apart->second.section);
  }
  for (TextDocument& document : documents) {
    if (const auto section = sections.find(document.number); section != sections.end())
      document.section = section->second;
  }
}

Status Shard::State::keep_apart(PartitionId partition) {
  {
    const std::lock_guard lock(writing_);
    KIN_RETURN_IF_ERROR(refused());
    // Segments of a foreign partition join its section, which steps do: they merge segments.
    if (is_foreign(partition) || (apart_ && apart_->contains(partition))) return Done{};
  }
  return learn_apart(partition);
}

Status Shard::State::join_again(PartitionId partition) {
  const std::lock_guard lock(writing_);
  KIN_RETURN_IF_ERROR(refused());
  if (is_foreign(partition) || !apart_ || !apart_->contains(partition)) return Done{};
  PartitionsApart after = *apart_;
  after.erase(partition);
  apart_ = std::make_shared<const PartitionsApart>(std::move(after));
  return publish();
}

// Reading goes on without the lock; what changes meanwhile is in the log.
Status Shard::State::learn_apart(PartitionId partition) {
  const auto before = current();
  KIN_TRY(DocSet numbers, documents_of(before->truth, partition));
  PartitionDocuments documents(partition, std::move(numbers));
  const std::lock_guard lock(writing_);
  KIN_RETURN_IF_ERROR(refused());
  if (apart_ && apart_->contains(partition)) return Done{};
  KIN_TRY(const TruthView now, truth_->view());
  for (Lsn at = before->truth.lsn(); at < applied_;) {
    KIN_TRY(const ChangesPage page, now.changes({.after = at}));
    for (const Change& change : page.changes)
      KIN_RETURN_IF_ERROR(documents.follow(now, change));
    at = page.up_to;
  }
  PartitionsApart after = apart_ ? *apart_ : PartitionsApart();
  PartitionApart& apart = after[partition];
  apart.numbers = std::make_shared<const DocSet>(documents.numbers());
  if (is_foreign(partition)) apart.section = text_->begin_section(documents.numbers());
  apart_ = std::make_shared<const PartitionsApart>(std::move(after));
  return publish();
}

// Copies that were here when the shard was opened, and partitions that were given up without a word
// before.
Result<StepOutcome> Shard::State::step_apart() {
  std::optional<PartitionId> missing;
  {
    // As in tidy_views(): a later step finds the lock free.
    const std::unique_lock lock(writing_, std::try_to_lock);
    if (!lock) return StepOutcome::idle();
    const auto is_missing = [&](PartitionId partition) {
      return is_foreign(partition) && !(apart_ && apart_->contains(partition));
    };
    const auto found = std::ranges::find_if(*partitions_, is_missing);
    if (found != partitions_->end()) missing = *found;
  }
  if (!missing) return StepOutcome::idle();
  KIN_RETURN_IF_ERROR(learn_apart(*missing));
  return StepOutcome::worked();
}

}  // namespace kin::index
