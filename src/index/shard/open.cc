// Opening: indexes come from the checkpoint or are rebuilt, and the log is replayed.
#include <algorithm>

#include "base/workers.h"
#include "index/shard/documents.h"
#include "index/shard/state.h"

namespace kin::index {
namespace {

// Changes per replayed page.
constexpr std::size_t kPage = 12'000;

}  // namespace

Status Shard::State::restore(const TruthView& view) {
  const auto& checkpoint = store_->checkpoint();
  // The checkpoint may be ahead of a truth that was restored from a backup or lost unsynced
  // batches.
  const bool follows = checkpoint && checkpoint->applied <= view.lsn() &&
                       checkpoint->applied >= view.counters().trimmed;
  const bool whole = view.counters().trimmed == 0;
  start_ = follows ? Start::kCheckpoint : whole ? Start::kFirstChange : Start::kScan;
  applied_ = follows ? checkpoint->applied : whole ? 0 : view.lsn();
  checkpoint_lsn_ = follows ? applied_ : 0;
  // The indexes do not depend on each other, and each reads much.
  spaces_.resize(options_.spaces.size());
  return parallel_for(available_cores(), spaces_.size() + 2, [&](std::size_t task) {
    if (task == 0) return restore_text(view);
    if (task == 1) return restore_near_duplicates(view);
    return restore_space(options_.spaces[task - 2], view, spaces_[task - 2]);
  });
}

Status Shard::State::restore_text(const TruthView& view) {
  const TextOptions options = text_options(options_);
  if (start_ == Start::kCheckpoint) {
    const auto manifest = store_->text_manifest();
    if (manifest.ok()) {
      auto text = TextIndex::open(options, *manifest,
                                  [&](std::uint64_t id) { return store_->text_part(id); });
      // An index that cannot be used, for whatever reason, is rebuilt.
      if (text.ok() && text->view().applied() == applied_) {
        text_ = std::move(*text);
        return Done{};
      }
    }
  }
  KIN_TRY(text_, TextIndex::create(options));
  return start_ == Start::kFirstChange ? Status(Done{}) : rebuild_text(view);
}

Status Shard::State::rebuild_text(const TruthView& view) {
  return each_page(view, {.vectors = false},
                   [&](const std::vector<StoredDocument>& page, bool last) -> Status {
                     // Every page needs an LSN of its own. There are fewer pages than changes.
                     TextChanges changes{.lsn = last ? view.lsn() : text_->view().applied() + 1};
                     for (const StoredDocument& document : page)
                       changes.upserts.push_back(text_document(document));
                     text_->apply(std::move(changes));
                     // Nothing else runs yet, so nobody else would merge the segments.
                     while (text_->merge()) {
                     }
                     return Done{};
                   });
}

Result<std::shared_ptr<SpaceGeneration>> Shard::State::begun(const SpaceOptions& options,
                                                             const TruthView& view) const {
  KIN_TRY(auto generation, SpaceGeneration::create(options, options_.cell_size));
  if (view.counters().entities > 0) generation->scan = SpaceScan{.below = view.counters().numbers};
  return generation;
}

Result<std::shared_ptr<SpaceGeneration>> Shard::State::restored(const SpaceOptions& options) const {
  const Error none{Code::kNotFound, "the checkpoint does not have the space"};
  if (start_ != Start::kCheckpoint) return none;
  const auto& spaces = store_->checkpoint()->spaces;
  const auto record = std::ranges::find(spaces, options.name, &SpaceRecord::name);
  if (record == spaces.end() || record->options_hash != options_hash(options)) return none;
  KIN_TRY(const std::string head, store_->head(options.name));
  const std::string owner = pieces_of_space(options.name);
  KIN_TRY(auto generation,
          SpaceGeneration::restore(options, options_.cell_size, head,
                                   [&](std::uint32_t number) -> Result<std::string> {
                                     if (number >= record->sequences.size()) return none;
                                     return store_->piece(record->sequences[number], owner, number);
                                   }));
  if (generation->index->applied_lsn() != applied_) return none;
  generation->sequences = record->sequences;
  // The cells were written while older views still saw these numbers.
  for (const std::uint32_t number : record->retired) generation->index->remove(number);
  return generation;
}

Status Shard::State::restore_space(const SpaceOptions& options, const TruthView& view,
                                   ShardSpace& space) const {
  if (auto found = restored(options); found.ok()) {
    space.live = std::move(*found);
    return Done{};
  }
  KIN_TRY(space.live, begun(options, view));
  // A replay from the first change brings every vector, so nothing is left to scan.
  if (start_ == Start::kFirstChange) space.live->scan.reset();
  return Done{};
}

Status Shard::State::restore_near_duplicates(const TruthView& view) {
  if (!near_ || start_ == Start::kFirstChange) return Done{};
  const auto from_checkpoint = [&]() -> Status {
    const auto& record = store_->checkpoint()->near_duplicates;
    if (!record || record->options_hash != near_->options_hash())
      return Error{Code::kNotFound, "the checkpoint does not have the signatures"};
    for (std::uint32_t page = 0; page < record->sequences.size(); ++page) {
      if (record->sequences[page] == 0) continue;  // it has never held a number
      KIN_TRY(const std::string bytes,
              store_->piece(record->sequences[page], kSignaturePieces, page));
      KIN_TRY(const SignaturePage read, decode_signature_page(bytes));
      KIN_RETURN_IF_ERROR(near_->restore(read));
    }
    near_sequences_ = record->sequences;
    return Done{};
  };
  if (start_ == Start::kCheckpoint && from_checkpoint().ok()) return Done{};
  // Some pages may have been restored before one failed.
  KIN_TRY(near_, NearDuplicates::create(near_->threshold()));
  near_sequences_.clear();
  const Want want{.vectors = false, .summaries = false};
  return each_page(view, want, [&](const std::vector<StoredDocument>& page, bool) -> Status {
    for (const StoredDocument& document : page) {
      if (const auto* stored = std::get_if<StoredEntity>(&document))
        near_->learn(number_of(document), near_->sketch(stored->entity).keys);
    }
    return Done{};
  });
}

Status Shard::State::replay(const TruthView& view) {
  const std::lock_guard lock(writing_);
  while (applied_ < view.lsn()) {
    KIN_TRY(const auto page, view.changes({.after = applied_, .limit = kPage}));
    if (page.changes.empty()) return Error{Code::kDataLoss, "changes are missing in the changelog"};
    KIN_RETURN_IF_ERROR(follow(view, page.changes, {}));
    each_generation([&](const auto& generation) { generation->drain(applied_); });
  }
  return Done{};
}

}  // namespace kin::index
