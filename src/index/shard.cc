#include "index/shard.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/disk.h"
#include "index/shard/documents.h"
#include "index/shard/screening.h"
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

}  // namespace

Result<std::unique_ptr<Shard::State>> Shard::State::open(const std::filesystem::path& folder,
                                                         ShardOptions options) {
  KIN_RETURN_IF_ERROR(check_options(text_options(options)));
  KIN_RETURN_IF_ERROR(check_spaces(options.spaces));
  std::unique_ptr<State> state(new State());
  state->options_ = std::move(options);
  const auto& near = state->options_.near_duplicates;
  if (near) {
    KIN_TRY(state->near_, NearDuplicates::create(near->threshold));
  }
  Disk* disk = state->options_.truth.disk;
  KIN_RETURN_IF_ERROR((disk != nullptr ? *disk : system_disk()).make_folder(folder));
  KIN_TRY(state->truth_, Truth::open(folder / kTruthFolder, state->options_.truth));
  KIN_TRY(state->store_, ShardStore::open(folder / "derived", state->options_.truth));
  {
    KIN_TRY(const TruthView view, state->truth_->view());
    KIN_RETURN_IF_ERROR(state->restore(view));
    KIN_RETURN_IF_ERROR(state->replay(view));
  }
  const std::lock_guard lock(state->writing_);
  KIN_RETURN_IF_ERROR(state->publish());
  return state;
}

// Views keep snapshots of the truth, which must outlive them.
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
               fmt::format("the shard must be opened again: {}", failed_->message)};
}

Status Shard::State::check_vectors(std::span<const Mutation> mutations) const {
  for (const Mutation& mutation : mutations) {
    const auto* put = std::get_if<PutEntity>(&mutation);
    if (put == nullptr) continue;
    for (const SpaceVector& vector : put->entity.vectors) {
      Status fits = Done{};
      each_generation([&](const auto& generation) {
        const SpaceOptions& space = generation->options;
        if (space.name != vector.space || !fits.ok()) return;
        fits = space.origin == VectorOrigin::kGiven
                   ? check_vector(space.space, vector.values)
                   : Status(Error{Code::kInvalidArgument, "its vectors are computed, not given"});
      });
      if (!fits.ok())
        return with_context(fmt::format("entity {}, space {}", put->entity.key, vector.space),
                            fits.error());
    }
  }
  return Done{};
}

// Before the truth is changed: a source that fails fails the batch, and no index is left behind.
Result<PreparedBatch> Shard::State::prepare(std::span<const Mutation> mutations) const {
  std::vector<std::shared_ptr<SpaceGeneration>> computed;
  {
    const std::lock_guard lock(writing_);
    KIN_RETURN_IF_ERROR(refused());
    KIN_RETURN_IF_ERROR(check_vectors(mutations));
    each_generation([&](const auto& generation) {
      if (generation->options.origin == VectorOrigin::kComputed) computed.push_back(generation);
    });
  }
  PreparedBatch prepared;
  if (computed.empty()) return prepared;
  std::vector<Document> documents;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < mutations.size(); ++i) {
    const auto* put = std::get_if<PutEntity>(&mutations[i]);
    if (put == nullptr) continue;
    documents.emplace_back(
        StoredEntity{.entity = {.title = put->entity.title, .text = put->entity.text}});
    places.push_back(i);
  }
  for (const auto& generation : computed) {
    KIN_TRY(auto made, vectors_of(generation->options, documents));
    PreparedBatch::Vectors& vectors = prepared.computed[generation];
    vectors.resize(mutations.size());
    for (std::size_t i = 0; i < made.size(); ++i) vectors[places[i]] = std::move(made[i]);
  }
  return prepared;
}

Result<Applied> Shard::State::apply(std::span<const Mutation> mutations,
                                    const kv::WriteOptions& options) {
  KIN_TRY(PreparedBatch prepared, prepare(mutations));
  const std::lock_guard lock(writing_);
  KIN_RETURN_IF_ERROR(refused());
  KIN_RETURN_IF_ERROR(check_vectors(mutations));
  if (!near_) return write(mutations, options, prepared);
  for (const Mutation& mutation : mutations) KIN_RETURN_IF_ERROR(index::check(mutation));
  KIN_TRY(ScreenedBatch screened,
          Screening(*options_.near_duplicates, *near_, now_->truth).run(mutations));
  prepared.origins = std::move(screened.origins);
  KIN_TRY(Applied applied, write(screened.mutations, options, prepared));
  std::vector<Outcome> outcomes(mutations.size(), {.effect = Effect::kDuplicate});
  for (std::size_t i = 0; i < prepared.origins.size(); ++i) {
    if (prepared.origins[i] != ScreenedBatch::kAdded)
      outcomes[prepared.origins[i]] = applied.outcomes[i];
  }
  applied.outcomes = std::move(outcomes);
  applied.repeats = std::move(screened.repeats);
  return applied;
}

Result<Applied> Shard::State::write(std::span<const Mutation> mutations,
                                    const kv::WriteOptions& options, PreparedBatch& prepared) {
  KIN_TRY(Applied applied, truth_->apply(mutations, options));
  if (applied.first > applied.last) return applied;
  for (std::size_t i = 0; i < mutations.size(); ++i) {
    const std::size_t origin = prepared.origins.empty() ? i : prepared.origins[i];
    prepared.mutations[static_cast<std::uint32_t>(applied.outcomes[i].number)] = origin;
  }
  const auto all = [&]() -> Status {
    KIN_TRY(const TruthView view, truth_->view());
    KIN_TRY(const auto changes,
            view.changes({.after = applied_, .limit = applied.last - applied_}));
    KIN_RETURN_IF_ERROR(follow(view, changes, prepared));
    return publish();
  };
  const Status followed = all();
  if (followed.ok()) return applied;
  failed_ = followed.error();
  return followed.error();
}

ShardStats Shard::State::stats() const {
  const auto now = current();
  ShardStats stats{.counters = now->truth.counters(),
                   .text_documents = now->text.documents(),
                   .text_bytes = now->text.bytes(),
                   .text_segments = now->text.segments(),
                   .truth = truth_->usage(),
                   .last_lsn = now->truth.lsn()};
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

Shard::Shard(std::unique_ptr<State> state) : state_(std::move(state)) {}
Shard::~Shard() = default;

Result<std::unique_ptr<Shard>> Shard::open(const std::filesystem::path& folder,
                                           ShardOptions options) {
  KIN_TRY(auto state, State::open(folder, std::move(options)));
  return std::unique_ptr<Shard>(new Shard(std::move(state)));
}

Result<Applied> Shard::apply(std::span<const Mutation> mutations, const kv::WriteOptions& options) {
  return state_->apply(mutations, options);
}

ShardView Shard::view() const {
  return ShardView(state_->current());
}

Result<bool> Shard::step() {
  return state_->step();
}

Status Shard::replace_space(SpaceOptions space) {
  return state_->replace_space(std::move(space));
}

Status Shard::checkpoint() {
  return state_->checkpoint();
}

ShardStats Shard::stats() const {
  return state_->stats();
}

Result<CheckReport> Shard::check(const std::function<void(double)>& progress) const {
  return state_->check(progress);
}

Status Shard::close() {
  return state_->close();
}

}  // namespace kin::index
