#include "index/screening.h"

#include <algorithm>

#include "index/truth/owners.h"
#include "sketch/jaccard.h"

namespace kin::index {
namespace {

std::uint64_t band_key(std::size_t band, std::uint32_t key) {
  return std::uint64_t{band} << 32 | key;
}

}  // namespace

Status Screening::read_stored(std::span<const Mutation> mutations) {
  std::vector<DocId> ids;
  for (const Mutation& mutation : mutations) {
    const auto* put = std::get_if<PutEntity>(&mutation);
    if (put == nullptr) continue;
    ids.push_back(put->entity.id);
    sketches_.push_back(sketcher_.sketch(put->entity));
  }
  KIN_TRY(const auto partitions, texts_.partitions(ids));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (partitions[i]) stored_.emplace(ids[i], *partitions[i]);
  }
  KIN_TRY(near_, texts_.near(sketches_));
  return Done{};
}

void Screening::consider(const DocId& id, double similarity, std::optional<Match>& best) const {
  if (similarity < sketcher_.threshold()) return;
  if (best && similarity <= best->similarity) return;  // of equal ones the first stays
  best = Match{.id = id, .similarity = similarity};
}

void Screening::match_stored(const DocId& id, std::span<const NearText> near,
                             std::optional<Match>& best) const {
  for (const NearText& text : near) {
    if (text.id != id && !superseded_.contains(text.id)) consider(text.id, text.similarity, best);
  }
}

void Screening::match_batch(const DocId& id, const TextSketch& sketch,
                            std::optional<Match>& best) const {
  std::set<DocId> seen{id};
  for (std::size_t band = 0; band < sketch.keys.size(); ++band) {
    const auto found = bands_.find(band_key(band, sketch.keys[band]));
    if (found == bands_.end()) continue;
    for (const DocId& other : found->second) {
      const auto put = put_.find(other);
      if (put == put_.end() || !seen.insert(other).second) continue;
      consider(other, sketch::exact_jaccard(sketch.shingles, put->second.shingles), best);
    }
  }
}

void Screening::remember(const DocId& id, TextSketch sketch) {
  for (std::size_t band = 0; band < sketch.keys.size(); ++band)
    bands_[band_key(band, sketch.keys[band])].push_back(id);
  // Bands of an earlier text of the batch stay; match_batch() compares shingles, so they do no
  // harm.
  put_[id] = std::move(sketch);
  superseded_.insert(id);
}

Screening::Verdict Screening::judge(const PutEntity& put, std::size_t place) {
  const DocId& id = put.entity.id;
  const auto known = stored_.find(id);
  Verdict verdict{.replaces = known != stored_.end()};
  const PartitionId partition =
      put.partition.value_or(verdict.replaces ? known->second : PartitionId{});
  // An entity that will be refused must not get a link either.
  if (!texts_.takes(partition)) return Verdict{.screened = false};
  TextSketch& sketch = sketches_[place];
  match_batch(id, sketch, verdict.match);
  match_stored(id, near_[place], verdict.match);
  if (verdict.match && options_.action == NearDuplicateOptions::Action::kRefuse) {
    refused_.insert(id);
    return verdict;
  }
  remember(id, std::move(sketch));
  stored_[id] = partition;
  return verdict;
}

bool Screening::is_left_out(const Mutation& mutation) const {
  // A refused put says nothing about the stored entity, which may still be removed or moved.
  if (std::holds_alternative<RemoveEntity>(mutation) ||
      std::holds_alternative<AssignPartition>(mutation))
    return false;
  const DocId* id = std::visit(EntityOf{}, mutation);
  return id != nullptr && refused_.contains(*id) && !put_.contains(*id);
}

// The index owns the edges of this name: they follow the entity's present text.
void Screening::add_link(const PutEntity& put, const Verdict& verdict, ScreenedBatch& batch) const {
  // A new entity has no link that would have to go.
  if (!verdict.match && !verdict.replaces) return;
  SetEdges links{.from = put.entity.id, .name = std::string(kNearDuplicateOf), .edges = {}};
  if (verdict.match) {
    Edge edge;
    edge.id = {.from = links.from, .name = links.name, .to = verdict.match->id};
    edge.weight = verdict.match->similarity;
    links.edges.push_back(std::move(edge));
  }
  batch.mutations.emplace_back(std::move(links));
  batch.origins.push_back(ScreenedBatch::kAdded);
}

Result<ScreenedBatch> Screening::run(std::span<const Mutation> mutations) {
  KIN_RETURN_IF_ERROR(read_stored(mutations));
  // All puts are judged before anything is left out: a later put of the batch may still store an
  // entity that an earlier put was refused for.
  std::vector<Verdict> verdicts(mutations.size());
  std::size_t place = 0;
  for (std::size_t i = 0; i < mutations.size(); ++i) {
    if (const auto* put = std::get_if<PutEntity>(&mutations[i])) {
      verdicts[i] = judge(*put, place++);
    } else if (const auto* remove = std::get_if<RemoveEntity>(&mutations[i])) {
      put_.erase(remove->id);
      superseded_.insert(remove->id);
    }
  }
  const bool refuses = options_.action == NearDuplicateOptions::Action::kRefuse;
  ScreenedBatch batch;
  for (std::size_t i = 0; i < mutations.size(); ++i) {
    const auto* put = std::get_if<PutEntity>(&mutations[i]);
    if (const auto& match = verdicts[i].match)
      batch.repeats.push_back({.mutation = i, .of = match->id, .similarity = match->similarity});
    if (put != nullptr ? refuses && verdicts[i].match : is_left_out(mutations[i])) continue;
    batch.mutations.push_back(mutations[i]);
    batch.origins.push_back(i);
    if (put != nullptr && !refuses && verdicts[i].screened) add_link(*put, verdicts[i], batch);
  }
  return batch;
}

}  // namespace kin::index
