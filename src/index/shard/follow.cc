// Following: changes of the truth become changes of the indexes.
#include <algorithm>
#include <unordered_set>

#include "index/shard/documents.h"
#include "index/shard/state.h"

namespace kin::index {
namespace {

// Limit of remembered views while a reader holds an old one.
constexpr std::size_t kManyStates = 256;

// The new numbers of the changes, without those that the same changes retire.
std::vector<DocNumber> learnt(std::span<const Change> changes,
                              const std::unordered_set<std::uint32_t>& retired) {
  std::vector<DocNumber> numbers;
  for (const Change& change : changes) {
    if (change.number == kNoNumber || change.kind == ChangeKind::kEntityAssigned) continue;
    if (!retired.contains(static_cast<std::uint32_t>(change.number)))
      numbers.push_back(change.number);
  }
  return numbers;
}

bool wants_vectors(const ShardSpace& space) {
  return space.live->options.origin == VectorOrigin::kGiven ||
         (space.next && space.next->options.origin == VectorOrigin::kGiven);
}

}  // namespace

// A number means one state of one document. Indexes only add new numbers and remove retired ones,
// so changes may be followed twice, or after later ones.
Status Shard::State::follow(const TruthView& view, std::span<const Change> changes,
                            const PreparedBatch& prepared) {
  if (changes.empty()) return Done{};
  const Lsn last = changes.back().lsn;
  std::unordered_set<std::uint32_t> retired;
  for (const Change& change : changes) {
    if (change.retired != kNoNumber) retired.insert(static_cast<std::uint32_t>(change.retired));
  }
  // First: it decides which sections of the text index the documents belong to.
  follow_owners(changes);
  KIN_RETURN_IF_ERROR(follow_apart(view, changes));
  const std::vector<DocNumber> numbers = learnt(changes, retired);
  const bool vectors = std::ranges::any_of(spaces_, wants_vectors);
  KIN_TRY(auto found, view.documents(numbers, {.vectors = vectors}));
  std::vector<StoredDocument> documents;
  for (auto& document : found) {
    if (document) documents.push_back(std::move(*document));
  }
  // A text index that was rebuilt is ahead of the log that is replayed. It ignores changes that it
  // has, so their documents need not be made.
  TextChanges text{.deletes = {retired.begin(), retired.end()}, .upserts = {}, .lsn = last};
  if (text_->view().applied() < last) {
    for (const StoredDocument& document : documents)
      text.upserts.push_back(text_document(document));
    set_sections(changes, text.upserts);
  }
  text_->apply(std::move(text));
  for (const ShardSpace& space : spaces_) {
    for (const auto& generation : {space.live, space.next}) {
      if (!generation) continue;
      // Not removed at once: older views still see these numbers.
      for (const std::uint32_t number : retired) generation->retire(number, last);
      KIN_RETURN_IF_ERROR(follow_space(generation, documents, prepared));
    }
  }
  if (near_) {
    for (const std::uint32_t number : retired) near_->forget(number);
    for (const StoredDocument& document : documents) {
      if (const auto* stored = std::get_if<StoredEntity>(&document))
        near_->learn(number_of(document), near_->sketch(stored->entity).keys);
    }
  }
  learn_partitions(changes);
  applied_ = last;
  return Done{};
}

// Partitions that became empty stay among them until the shard is opened again.
void Shard::State::learn_partitions(std::span<const Change> changes) {
  std::set<PartitionId> more;
  for (const Change& change : changes) {
    if (change.kind != ChangeKind::kOwnerAssigned && !partitions_->contains(change.partition))
      more.insert(change.partition);
  }
  if (more.empty()) return;
  more.insert(partitions_->begin(), partitions_->end());
  partitions_ = std::make_shared<const std::set<PartitionId>>(std::move(more));
}

Status Shard::State::follow_space(const std::shared_ptr<SpaceGeneration>& generation,
                                  std::span<const StoredDocument> documents,
                                  const PreparedBatch& prepared) {
  // Replayed changes and new generations have no prepared vectors.
  const auto known = prepared.computed.find(generation);
  PreparedBatch::Vectors vectors;
  if (known == prepared.computed.end()) {
    KIN_TRY(vectors, vectors_of(generation->options, documents));
  }
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const std::uint32_t number = number_of(documents[i]);
    // The scan will read this document.
    if (generation->scan && number < generation->scan->below) continue;
    const std::optional<std::vector<float>>* vector = nullptr;
    if (known == prepared.computed.end()) {
      vector = &vectors[i];
    } else if (const auto by = prepared.mutations.find(number); by != prepared.mutations.end()) {
      vector = &known->second[by->second];
    }
    if (vector != nullptr && *vector)
      KIN_RETURN_IF_ERROR(generation->index->insert(number, **vector));
  }
  return Done{};
}

Status Shard::State::publish() {
  KIN_TRY(TruthView truth, truth_->view());
  auto next = std::make_shared<ShardView::State>(ShardView::State{
      .truth = std::move(truth), .text = text_->view(), .partitions = partitions_, .apart = apart_});
  for (const ShardSpace& space : spaces_) {
    const auto& generation = space.live;
    next->spaces.push_back(
        {.name = generation->options.name,
         .generation = generation->options.generation,
         .index = std::shared_ptr<const VectorIndex>(generation, generation->index.get()),
         .origin = generation->options.origin,
         .source = generation->options.source,
         .below = next->truth.counters().numbers,
         .retired = generation->retired()});
  }
  published_.push_back({next->truth.lsn(), next});
  std::shared_ptr<const ShardView::State> before = std::move(next);
  {
    const std::lock_guard lock(publishing_);
    now_.swap(before);
  }
  before.reset();  // without the lock: it may free a snapshot and merged segments
  drain();
  return Done{};
}

// A retired number leaves an index when no reader holds a view that sees it.
void Shard::State::drain() {
  const auto nobody = [](const Published& one) { return one.state.expired(); };
  while (!published_.empty() && nobody(published_.front())) published_.pop_front();
  if (published_.empty()) return;
  // A reader that holds an old view keeps all later ones in the queue; these are thinned out.
  if (published_.size() > kManyStates) std::erase_if(published_, nobody);
  each_generation([&](const auto& generation) { generation->drain(published_.front().lsn); });
}

}  // namespace kin::index
