// The background work of a shard.
#include <algorithm>

#include "index/shard/documents.h"
#include "index/shard/state.h"

namespace kin::index {
namespace {

// A checkpoint is due after kLeastChanges, or after changes of one kShareOfAll-th of all things.
constexpr std::uint64_t kLeastChanges = 20'000;
constexpr std::uint64_t kShareOfAll = 8;
// Entities that a space under construction reads at a time.
constexpr std::size_t kScanPage = 2'000;

}  // namespace

// The tasks take turns, so that none starves while another always has work.
Result<StepOutcome> Shard::State::step() {
  const std::lock_guard lock(stepping_);
  KIN_RETURN_IF_ERROR(tidy_views());
  // First: merges may join what is to stay apart.
  KIN_TRY(const StepOutcome learnt, step_apart());
  if (learnt.did_work()) return learnt;
  const std::size_t tasks = spaces_.size() + 2;
  StepOutcome all = StepOutcome::idle();
  for (std::size_t i = 0; i < tasks && !all.did_work(); ++i) {
    const std::size_t task = turn_++ % tasks;
    KIN_TRY(const StepOutcome one, task == 0   ? step_text()
                                   : task == 1 ? step_checkpoint()
                                               : step_space(spaces_[task - 2]));
    all = combine(all, one);
  }
  return all;
}

// A busy writer holds the lock nearly always, and does the same at the end of each batch. A step
// that waited for the lock would do little else.
Status Shard::State::tidy_views() {
  const std::unique_lock lock(writing_, std::try_to_lock);
  if (!lock) return Done{};
  KIN_RETURN_IF_ERROR(refused());
  if (!merged_) {
    drain();
    return Done{};
  }
  merged_ = false;
  return publish();
}

Result<StepOutcome> Shard::State::step_text() {
  if (!text_->merge()) return StepOutcome::idle();
  // The current view holds the merged segments until a newer one is published.
  merged_ = true;
  KIN_RETURN_IF_ERROR(tidy_views());
  return StepOutcome::worked();
}

// Only steps change which generations there are.
Result<StepOutcome> Shard::State::step_space(ShardSpace& space) {
  StepOutcome all = StepOutcome::idle();
  for (const auto& generation : {space.live, space.next}) {
    if (!generation) continue;
    KIN_TRY(const StepOutcome indexed, step_index(*generation));
    if (indexed.did_work()) return indexed;
    KIN_TRY(const StepOutcome scanned, step_scan(*generation));
    if (scanned.did_work()) return scanned;
    all = combine(all, combine(indexed, scanned));
  }
  if (!space.next || !space.next->is_complete()) return all;
  const std::lock_guard lock(writing_);
  // The new generation has all documents: searches change over with the next view.
  space.live = std::move(space.next);
  space.next.reset();
  checkpoint_wanted_ = true;
  KIN_RETURN_IF_ERROR(publish());
  return StepOutcome::worked();
}

// An index without vectors of its own reads them from a view of the start of the step. Numbers that
// were retired earlier have no vector there, so they must have left the index.
Result<StepOutcome> Shard::State::step_index(SpaceGeneration& generation) {
  const SteadyTime moment = options_.clock->steady_now();
  if (generation.options.space.storage != RawStorage::kElsewhere)
    return generation.index->step(moment);
  std::optional<TruthView> view;
  {
    const std::lock_guard lock(writing_);
    if (!generation.queue.empty()) return StepOutcome::idle();
    KIN_TRY(TruthView now, truth_->view());
    view.emplace(std::move(now));
  }
  generation.raw->pin(&*view);
  Result<StepOutcome> outcome = generation.index->step(moment);
  generation.raw->pin(nullptr);
  return outcome;
}

Result<StepOutcome> Shard::State::step_scan(SpaceGeneration& generation) {
  ScanRequest request{.limit = kScanPage, .want = {.summaries = false}};
  std::optional<TruthView> view;
  {
    const std::lock_guard lock(writing_);
    if (!generation.scan) return StepOutcome::idle();
    generation.scan->gone.clear();
    request.after = generation.scan->after;
    KIN_TRY(TruthView now, truth_->view());
    view.emplace(std::move(now));
  }
  request.want.vectors = generation.options.origin == VectorOrigin::kGiven;
  // Reading and computing go on without the lock. Numbers that are retired meanwhile are in `gone`,
  // and new ones come by the changelog.
  KIN_TRY(ScanPage page, view->scan(request));
  std::vector<StoredDocument> documents(std::make_move_iterator(page.entities.begin()),
                                        std::make_move_iterator(page.entities.end()));
  KIN_TRY(const auto vectors, vectors_of(generation.options, documents));
  const std::lock_guard lock(writing_);
  SpaceScan& scan = *generation.scan;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const std::uint32_t number = number_of(documents[i]);
    if (!vectors[i] || number >= scan.below || scan.gone.contains(number)) continue;
    KIN_RETURN_IF_ERROR(generation.index->insert(number, *vectors[i]));
  }
  scan.after = page.next;
  if (page.next && static_cast<std::uint32_t>(*page.next) < scan.below)
    return StepOutcome::worked();
  generation.scan.reset();
  checkpoint_wanted_ = true;
  return StepOutcome::worked();
}

Status Shard::State::replace_space(SpaceOptions options) {
  KIN_RETURN_IF_ERROR(check_space_options(options));
  const std::lock_guard stepping(stepping_);
  const std::lock_guard lock(writing_);
  KIN_RETURN_IF_ERROR(refused());
  KIN_TRY(const TruthView view, truth_->view());
  KIN_TRY(auto generation, begun(options, view));
  const auto same = std::ranges::find_if(
      spaces_, [&](const ShardSpace& space) { return space.live->options.name == options.name; });
  if (same == spaces_.end())
    spaces_.push_back({.live = std::move(generation), .next = {}});
  else
    same->next = std::move(generation);
  return publish();
}

bool Shard::State::checkpoint_is_due() const {
  const auto now = current();
  const Counters counters = now->truth.counters();
  const std::uint64_t all = counters.entities + counters.edges + counters.fragments;
  return checkpoint_wanted_ ||
         now->truth.lsn() - checkpoint_lsn_ > std::max(kLeastChanges, all / kShareOfAll);
}

Result<StepOutcome> Shard::State::step_checkpoint() {
  if (!checkpoint_is_due()) return StepOutcome::idle();
  KIN_RETURN_IF_ERROR(write_checkpoint());
  return StepOutcome::worked();
}

Status Shard::State::checkpoint() {
  const std::lock_guard lock(stepping_);
  return write_checkpoint();
}

// Text and signatures are those of one moment. Vectors may hold later changes too; replaying those
// does no harm.
Status Shard::State::write_checkpoint() {
  CheckpointWrite write;
  std::vector<std::shared_ptr<SpaceGeneration>> complete;
  KIN_RETURN_IF_ERROR(store_->recover());
  const std::uint64_t sequence = store_->next_sequence();
  {
    const std::lock_guard lock(writing_);
    KIN_RETURN_IF_ERROR(refused());
    drain();  // fewer numbers to record as retired
    write.record = {.applied = applied_, .sequence = sequence};
    write.text = text_->checkpoint();
    for (const ShardSpace& space : spaces_) {
      if (!space.live->is_complete()) continue;
      complete.push_back(space.live);
      write.record.spaces.push_back({.name = space.live->options.name,
                                     .options_hash = options_hash(space.live->options),
                                     .retired = *space.live->retired()});
    }
    if (near_) add_near_duplicates(write);
  }
  checkpoint_wanted_ = false;
  const auto scope = write_all_ ? VectorIndex::Scope::kAll : VectorIndex::Scope::kChanged;
  // Until the write has succeeded: after a failure the store lacks pieces that the indexes do not
  // count as changed any more.
  write_all_ = true;
  for (std::size_t i = 0; i < complete.size(); ++i) {
    SpaceGeneration& generation = *complete[i];
    VectorCheckpoint made = generation.index->checkpoint(write.record.applied, scope);
    generation.sequences.resize(made.cells);
    for (const auto& [number, bytes] : made.changed) generation.sequences[number] = sequence;
    write.record.spaces[i].sequences = generation.sequences;
    write.heads.emplace_back(generation.options.name, std::move(made.head));
    write.pieces.push_back({pieces_of_space(generation.options.name), std::move(made.changed)});
  }
  // The log is trimmed last: until the checkpoint is durable, opening needs it.
  KIN_RETURN_IF_ERROR(store_->write(write));
  write_all_ = false;
  checkpoint_lsn_ = write.record.applied;
  // The changelog of a copy is trimmed by its owner.
  if (is_copy_) return Done{};
  return truth_->trim_changes(write.record.applied);
}

void Shard::State::add_near_duplicates(CheckpointWrite& write) {
  auto pages =
      near_->checkpoint(write_all_ ? NearDuplicates::Scope::kAll : NearDuplicates::Scope::kChanged);
  near_sequences_.resize(pages.count);
  for (const auto& [page, bytes] : pages.changed) near_sequences_[page] = write.record.sequence;
  write.record.near_duplicates =
      NearDuplicateRecord{.options_hash = near_->options_hash(), .sequences = near_sequences_};
  write.pieces.push_back({std::string(kSignaturePieces), std::move(pages.changed)});
}

}  // namespace kin::index
