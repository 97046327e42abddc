#include "index/shard.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/disk.h"
#include "index/shard/documents.h"
#include "index/shard/stored_texts.h"
#include "index/shard/state.h"

namespace kin::index {
namespace {

Status check_spaces(const std::vector<SpaceOptions>& spaces) {
  for (std::size_t i = 0; i < spaces.size(); ++i) {
    KIN_RETURN_IF_ERROR(check_space_options(spaces[i]));
    for (std::size_t j = 0; j < i; ++j) {
      if (spaces[i].name == spaces[j].name)
        return Error{Code::kInvalidArgument,
                     fmt::format("two embedding spaces are named {}", spaces[i].name)};
    }
  }
  return Done{};
}

// The entity that the mutation puts, or null.
const Entity* entity_in(const Mutation& mutation) {
  const auto* put = std::get_if<PutEntity>(&mutation);
  return put == nullptr ? nullptr : &put->entity;
}
const Entity* entity_in(const Record& record) {
  const auto* entity = std::get_if<EntityRecord>(&record);
  return entity == nullptr || entity->deleted ? nullptr : &entity->entity;
}

template <typename Item>
std::vector<const Entity*> entities_in(std::span<const Item> items) {
  std::vector<const Entity*> entities;
  for (const Item& item : items) entities.push_back(entity_in(item));
  return entities;
}

}  // namespace

Result<std::unique_ptr<Shard>> Shard::State::open(const std::filesystem::path& folder,
                                                  ShardOptions options) {
  KIN_RETURN_IF_ERROR(check_options(text_options(options)));
  KIN_RETURN_IF_ERROR(check_spaces(options.spaces));
  std::unique_ptr<State> state(new State());
  state->options_ = std::move(options);
  state->is_copy_ = state->options_.is_copy;
  const auto& near = state->options_.near_duplicates;
  if (near) {
    KIN_TRY(state->near_, NearDuplicates::create(near->threshold));
  }
  Disk* disk = state->options_.truth.disk;
  KIN_RETURN_IF_ERROR((disk != nullptr ? *disk : system_disk()).make_folder(folder));
  KIN_TRY(state->truth_, Truth::open(folder / kTruthFolder, state->options_.truth));
  KIN_TRY(state->store_, ShardStore::open(folder / "derived", state->options_.truth));
  {
    // Everything is restored as of one view, which is gone before the first view is published.
    KIN_TRY(const TruthView view, state->truth_->view());
    KIN_TRY(auto partitions, view.partitions());
    state->partitions_ = std::make_shared<const std::set<PartitionId>>(std::move(partitions));
    state->owners_ = state->truth_->owners();
    KIN_RETURN_IF_ERROR(state->restore(view));
    KIN_RETURN_IF_ERROR(state->replay(view));
  }
  const std::lock_guard lock(state->writing_);
  KIN_RETURN_IF_ERROR(state->publish());
  return std::unique_ptr<Shard>(std::move(state));
}

// The current view holds a snapshot of the truth, so it must go first.
Shard::State::~State() {
  now_.reset();
}

std::shared_ptr<const ShardView::State> Shard::State::current() const {
  const std::lock_guard lock(publishing_);
  return now_;
}

Status Shard::State::refused() const {
  if (!failed_) return Done{};
  return Error{Code::kFailedPrecondition,
               fmt::format("an index could not follow the truth; open the shard again: {}",
                           failed_->message)};
}

Status Shard::State::refused_to_copies() const {
  if (!is_copy_) return Done{};
  return Error{Code::kFailedPrecondition, "the shard is a copy, which only its owner's log changes"};
}

Status Shard::State::check_vectors(std::span<const Entity* const> entities) const {
  for (const Entity* entity : entities) {
    if (entity == nullptr) continue;
    for (const SpaceVector& vector : entity->vectors) {
      // A generation under construction may have another dimension than the searched one.
      Status fits = Done{};
      each_generation([&](const auto& generation) {
        const SpaceOptions& space = generation->options;
        if (space.name != vector.space || !fits.ok()) return;
        fits = space.origin == VectorOrigin::kGiven
                   ? check_vector(space.space, vector.values)
                   : Status(Error{Code::kInvalidArgument,
                                  "the space computes its vectors; documents must not bring any"});
      });
      if (!fits.ok())
        return with_context(fmt::format("entity {}, space {}", entity->key, vector.space),
                            fits.error());
    }
  }
  return Done{};
}

// Runs before the truth changes, so that a failing source fails the batch and no index falls
// behind.
Result<PreparedBatch> Shard::State::prepare(std::span<const Entity* const> entities) const {
  std::vector<std::shared_ptr<SpaceGeneration>> computed;
  {
    const std::lock_guard lock(writing_);
    KIN_RETURN_IF_ERROR(refused());
    each_generation([&](const auto& generation) {
      if (generation->options.origin == VectorOrigin::kComputed) computed.push_back(generation);
    });
  }
  // The lock is not held while vectors are made. A generation that begins meanwhile is not in
  // `computed`, and follow_space() makes its vectors.
  PreparedBatch prepared;
  if (computed.empty()) return prepared;
  std::vector<StoredDocument> documents;
  std::vector<std::size_t> slots;
  for (std::size_t i = 0; i < entities.size(); ++i) {
    if (entities[i] == nullptr) continue;
    documents.emplace_back(
        StoredEntity{.entity = {.title = entities[i]->title, .text = entities[i]->text}});
    slots.push_back(i);
  }
  for (const auto& generation : computed) {
    KIN_TRY(auto made, vectors_of(generation->options, documents));
    PreparedBatch::Vectors& vectors = prepared.computed[generation];
    vectors.resize(entities.size());
    for (std::size_t i = 0; i < made.size(); ++i) vectors[slots[i]] = std::move(made[i]);
  }
  return prepared;
}

Result<Applied> Shard::State::apply(std::span<const Mutation> mutations,
                                    const ApplyOptions& options) {
  KIN_RETURN_IF_ERROR(refused_to_copies());
  for (const Mutation& mutation : mutations) KIN_RETURN_IF_ERROR(index::check(mutation));
  const std::vector<const Entity*> entities = entities_in(mutations);
  KIN_TRY(PreparedBatch prepared, prepare(entities));
  const std::lock_guard lock(writing_);
  KIN_RETURN_IF_ERROR(refused());
  KIN_RETURN_IF_ERROR(check_vectors(entities));
  if (!near_ || !options_.screens)
    return follow_batch(truth_->apply_checked(mutations, options), prepared);
  KIN_TRY(const Owners owners, now_->truth.owners());
  const ShardTexts texts(*near_, now_->truth, owners, options.map_epoch);
  KIN_TRY(ScreenedBatch screened,
          Screening(*options_.near_duplicates, near_->sketcher(), texts).run(mutations));
  prepared.origins = screened.origins;
  ApplyOptions how = options;
  how.ages.clear();
  for (const std::size_t origin : prepared.origins)
    how.ages.push_back(origin < options.ages.size() ? options.ages[origin] : 0);
  KIN_TRY(Applied applied, follow_batch(truth_->apply_checked(screened.mutations, how), prepared));
  if (applied.repeated) return applied;
  applied.outcomes =
      outcomes_of_given<Outcome>(screened, mutations.size(), applied.outcomes);
  applied.repeats = std::move(screened.repeats);
  return applied;
}

Result<Applied> Shard::State::apply(std::span<const Record> records, const ApplyOptions& options) {
  KIN_RETURN_IF_ERROR(refused_to_copies());
  const std::vector<const Entity*> entities = entities_in(records);
  KIN_TRY(PreparedBatch prepared, prepare(entities));
  const std::lock_guard lock(writing_);
  KIN_RETURN_IF_ERROR(refused());
  KIN_RETURN_IF_ERROR(check_vectors(entities));
  return follow_batch(truth_->apply(records, options), prepared);
}

Status Shard::State::forget(std::span<const DocId> ids) {
  KIN_RETURN_IF_ERROR(refused_to_copies());
  const std::lock_guard lock(writing_);
  KIN_RETURN_IF_ERROR(refused());
  KIN_TRY(Applied forgotten, truth_->forget(ids));
  // Where only tombstones went there is nothing to follow, but views must not show them any more.
  if (forgotten.first > forgotten.last) return publish();
  PreparedBatch nothing;
  KIN_TRY([[maybe_unused]] const Applied followed, follow_batch(std::move(forgotten), nothing));
  return Done{};
}

// The owner's batches may trim changes that they bring, so the indexes follow the batches instead of
// the changelog. After a crash between the two a checkpoint may be older than the changelog: then
// opening rebuilds the indexes.
Status Shard::State::apply_shipped(std::span<const std::string_view> batches,
                                   std::string_view position) {
  if (!is_copy_) return Error{Code::kFailedPrecondition, "the shard is not a copy of another one"};
  const std::lock_guard lock(writing_);
  KIN_RETURN_IF_ERROR(refused());
  KIN_TRY(const std::vector<Change> changes, truth_->apply_shipped(batches, position));
  const auto all = [&]() -> Status {
    KIN_TRY(const TruthView view, truth_->view());
    KIN_RETURN_IF_ERROR(follow(view, changes, {}));
    return publish();
  };
  const Status followed = all();
  if (!followed.ok()) failed_ = followed.error();
  return followed;
}

Result<Applied> Shard::State::follow_batch(Result<Applied> written, PreparedBatch& prepared) {
  KIN_TRY(Applied applied, std::move(written));
  if (applied.first > applied.last) return applied;  // nothing changed
  for (std::size_t i = 0; i < applied.outcomes.size(); ++i) {
    const std::size_t origin = prepared.origins.empty() ? i : prepared.origins[i];
    prepared.mutations[static_cast<std::uint32_t>(applied.outcomes[i].number)] = origin;
  }
  const auto all = [&]() -> Status {
    KIN_TRY(const TruthView view, truth_->view());
    KIN_TRY(const auto page, view.changes({.after = applied_, .limit = applied.last - applied_}));
    KIN_RETURN_IF_ERROR(follow(view, page.changes, prepared));
    return publish();
  };
  // The truth has the batch and an index may lack it. Opening again replays the log.
  const Status followed = all();
  if (followed.ok()) return applied;
  failed_ = followed.error();
  return followed.error();
}

Result<std::vector<std::vector<NearText>>> Shard::State::near_texts(
    std::span<const TextSketch> sketches,
    const std::optional<std::set<PartitionId>>& within) const {
  std::vector<std::vector<NearCandidate>> candidates;
  std::shared_ptr<const ShardView::State> view;
  {
    const std::lock_guard lock(writing_);
    KIN_RETURN_IF_ERROR(refused());
    if (!near_)
      return Error{Code::kFailedPrecondition, "the shard does not look for near-duplicates"};
    for (const TextSketch& sketch : sketches) candidates.push_back(find_candidates(*near_, sketch));
    view = current();
  }
  // Reading texts takes longer than the lock may be held.
  std::vector<std::vector<NearText>> found;
  for (std::size_t i = 0; i < sketches.size(); ++i) {
    KIN_TRY(auto texts, compare_candidates(near_->sketcher(), view->truth, sketches[i],
                                           candidates[i], within));
    found.push_back(std::move(texts));
  }
  return found;
}

ShardStats Shard::State::stats() const {
  const auto now = current();
  ShardStats stats{.counters = now->truth.counters(),
                   .text_documents = now->text.documents(),
                   .text_bytes = now->text.bytes(),
                   .text_segments = now->text.segments(),
                   .truth = truth_->usage(),
                   .last_lsn = now->truth.lsn(),
                   .followers = truth_->followers(),
                   .owners = truth_->owners()};
  stats.checkpoint_lsn = checkpoint_lsn_;
  const std::lock_guard lock(writing_);
  for (const ShardSpace& space : spaces_) {
    const SpaceGeneration& searched = *space.live;
    const SpaceGeneration& made = space.next ? *space.next : searched;
    stats.spaces.push_back({.name = searched.options.name,
                            .generation = searched.options.generation,
                            .vectors = searched.index->stats(),
                            .building = made.share()});
  }
  return stats;
}

Status Shard::State::close() {
  KIN_RETURN_IF_ERROR(checkpoint());
  const std::lock_guard lock(writing_);
  now_.reset();
  KIN_RETURN_IF_ERROR(store_->close());
  return truth_->close();
}

Result<std::unique_ptr<Shard>> Shard::open(const std::filesystem::path& folder,
                                           ShardOptions options) {
  return State::open(folder, std::move(options));
}

}  // namespace kin::index
