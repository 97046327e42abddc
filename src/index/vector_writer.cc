#include "index/internal/vector_writer.h"

#include <algorithm>
#include <map>

#include "base/hash.h"
#include "index/internal/vector_kernels.h"

namespace kin::index::internal {
namespace {

// Pending vectors that one step takes in.
constexpr std::size_t kBatch = 1024;

}  // namespace

void Draft::put(std::uint32_t partition, std::shared_ptr<Posting> posting) {
  if (partition >= postings.size()) {
    postings.resize(partition + 1);
    touched.resize(partition + 1);
  }
  postings[partition] = std::move(posting);
  touched[partition] = true;
}

VectorWriter::VectorWriter(VectorCore& core)
    : core_(core),
      tail_(std::make_shared<PendingChunk>(padded_dimension(core.options.space.dimension))) {
  auto first = std::make_shared<Snapshot>();
  first->pending = {tail_, 0};
  core_.publish(std::move(first));
}

Status VectorWriter::append(std::uint32_t id, std::span<const float> rotated) {
  if (tail_->size() == PendingChunk::kRows) {
    auto next = std::make_shared<PendingChunk>(rotated.size());
    tail_->set_next(next);
    tail_ = std::move(next);
  }
  const std::uint32_t row = tail_->size();
  tail_->append(id, rotated);
  pending_[id] = {tail_, row};
  ++pending_rows_;
  return Done{};
}

Status VectorWriter::insert(std::uint32_t id, std::span<const float> vector) {
  KIN_TRY(const std::vector<float> rotated, core_.rotated(vector));
  if (core_.options.space.storage == RawStorage::kF16) {
    // A rotation moves no number beyond the vector's length.
    if (!(dot(rotated.data(), rotated.data(), rotated.size()) < 4e9F))
      return Error{Code::kInvalidArgument, "the vector is too long for numbers of 16 bits"};
  }
  const Place old = core_.places.get(id);
  std::optional<PendingRow> replaced;
  if (const auto found = pending_.find(id); found != pending_.end()) replaced = found->second;
  KIN_RETURN_IF_ERROR(append(id, rotated));
  // Deleted rows of this id that wait to be reclaimed have no say in its place any more.
  core_.places.set(id, Place::without(VectorState::kPending));
  if (replaced) replaced->chunk->mark_dead(replaced->row);
  if (old.is_indexed()) forget(id, old);
  if (!replaced && !old.is_indexed()) ++live_;
  return Done{};
}

void VectorWriter::forget(std::uint32_t, Place place) {
  const auto snapshot = core_.snapshot();
  snapshot->postings[place.partition()]->mark_dead(place.slot());
  dirty_[place.partition()] = true;
}

bool VectorWriter::remove(std::uint32_t id) {
  const Place old = core_.places.get(id);
  if (old.is_indexed()) {
    core_.places.set(id, Place::without(VectorState::kDeleted));
    forget(id, old);
    --live_;
    return true;
  }
  const auto found = pending_.find(id);
  if (found == pending_.end()) return false;
  found->second.chunk->mark_dead(found->second.row);
  pending_.erase(found);
  core_.places.set(id, Place::without(VectorState::kPendingDeleted));
  --live_;
  return true;
}

Draft VectorWriter::draft() const {
  const auto now = core_.snapshot();
  Draft next{.centres = Matrix(core_.options.space.dimension),
             .postings = now->postings,
             .pending = now->pending,
             .curve = now->curve,
             .touched = std::vector<bool>(now->postings.size(), false)};
  if (now->centres != nullptr) next.centres = now->centres->matrix();
  return next;
}

// Ids whose deleted slots are gone with the old postings are absent from then on. Places come
// before the snapshot: who sees the new one must not think a vector pending that has left the log.
void VectorWriter::publish(Draft next) {
  const auto old = core_.snapshot();
  for (std::uint32_t p = 0; p < old->postings.size(); ++p) {
    if (p < next.postings.size() && !next.touched[p]) continue;
    const Posting& posting = *old->postings[p];
    for (std::uint32_t slot = 0; slot < posting.size(); ++slot) {
      const std::uint32_t id = posting.ids()[slot];
      if (posting.is_dead(slot) && core_.places.get(id).state() == VectorState::kDeleted)
        core_.places.set(id, {});
    }
  }
  dirty_.resize(next.postings.size());
  for (std::uint32_t p = 0; p < next.postings.size(); ++p) {
    if (!next.touched[p]) continue;
    dirty_[p] = true;
    const auto ids = next.postings[p]->ids();
    for (std::uint32_t slot = 0; slot < ids.size(); ++slot)
      core_.places.set(ids[slot], Place::at(p, slot));
  }
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->postings = std::move(next.postings);
  snapshot->pending = std::move(next.pending);
  snapshot->curve = std::move(next.curve);
  if (next.centres.rows() > 0)
    snapshot->centres = std::make_shared<const Centres>(std::move(next.centres));
  core_.publish(std::move(snapshot));
}

Result<std::vector<Item>> VectorWriter::items_of(const Posting& posting) const {
  std::vector<Item> items;
  for (std::uint32_t slot = 0; slot < posting.size(); ++slot) {
    if (posting.is_dead(slot)) continue;
    Item item{posting.ids()[slot], {}};
    KIN_TRY(const bool found, core_.read(posting, slot, item.rotated));
    if (!found)
      return Error{Code::kUnavailable,
                   "the vector of id " + std::to_string(item.id) + " is not where it should be"};
    items.push_back(std::move(item));
  }
  return items;
}

std::shared_ptr<Posting> VectorWriter::extended(const Posting& old, const Centres& centres,
                                                std::uint32_t partition,
                                                std::span<const Item* const> more) {
  const std::uint32_t kept = old.live();
  auto posting = std::make_shared<Posting>(core_.options.space, core_.encoder.full_error_ratio(),
                                           kept + static_cast<std::uint32_t>(more.size()));
  std::uint32_t slot = 0;
  for (std::uint32_t from = 0; from < old.size(); ++from)
    if (!old.is_dead(from)) posting->copy(slot++, old, from);
  VectorCode code;
  for (const Item* item : more) {
    core_.encoder.encode(item->rotated, centres.matrix().row(partition), code);
    posting->set(slot, item->id, code);
    posting->set_raw(slot++, item->rotated);
  }
  posting->finish();
  return posting;
}

void VectorWriter::assign(Draft& next, const std::vector<Item>& items,
                          std::span<const std::uint32_t> owners) {
  std::map<std::uint32_t, std::vector<const Item*>> groups;
  for (std::size_t i = 0; i < items.size(); ++i) groups[owners[i]].push_back(&items[i]);
  const Centres centres(next.centres);
  for (const auto& [partition, members] : groups)
    next.put(partition, extended(*next.postings[partition], centres, partition, members));
}

void VectorWriter::assign_nearest(Draft& next, const std::vector<Item>& items) {
  const Centres centres(next.centres);
  std::vector<float> scratch;
  std::vector<std::uint32_t> owners;
  for (const Item& item : items) owners.push_back(centres.nearest(item.rotated.data(), scratch));
  assign(next, items, owners);
}

Status VectorWriter::build_pending() {
  Draft next = draft();
  std::vector<Item> items;
  std::vector<std::uint32_t> purged;
  std::size_t rows = 0;
  PendingView& view = next.pending;
  while (rows < kBatch) {
    if (view.from == PendingChunk::kRows && view.first->next() != nullptr)
      view = {view.first->next_shared(), 0};
    if (view.from == view.first->size()) break;
    const PendingChunk& chunk = *view.first;
    const std::uint32_t row = view.from++;
    ++rows;
    if (chunk.is_dead(row))
      purged.push_back(chunk.id(row));
    else
      items.push_back({chunk.id(row), {chunk.row(row).begin(), chunk.row(row).end()}});
  }
  assign_nearest(next, items);
  for (const Item& item : items) pending_.erase(item.id);
  pending_rows_ -= rows;
  publish(std::move(next));
  forget_purged(purged);
  return Done{};
}

void VectorWriter::forget_purged(std::span<const std::uint32_t> ids) {
  for (const std::uint32_t id : ids) {
    if (core_.places.get(id).state() == VectorState::kPendingDeleted) core_.places.set(id, {});
  }
}

VectorCheckpoint VectorWriter::checkpoint(std::uint64_t lsn, VectorIndex::Scope scope) {
  const auto snapshot = core_.snapshot();
  VectorCheckpoint result;
  result.partitions = static_cast<std::uint32_t>(snapshot->postings.size());
  sums_.resize(result.partitions);
  for (std::uint32_t p = 0; p < result.partitions; ++p) {
    if (scope == VectorIndex::Scope::kChanged && !dirty_[p]) continue;
    std::string bytes =
        encode_partition(p, snapshot->centres->matrix().row(p), *snapshot->postings[p]);
    sums_[p] = checksum(bytes);
    result.changed.emplace_back(p, std::move(bytes));
    dirty_[p] = false;
  }
  VectorCheckpointHead head{.space = core_.options.space,
                            .lsn = lsn,
                            .trained = trained_,
                            .curve = snapshot->curve,
                            .sums = sums_,
                            .pending = {}};
  snapshot->pending.each([&](const PendingChunk& chunk, std::uint32_t row) {
    if (!chunk.is_dead(row))
      head.pending.push_back({chunk.id(row), {chunk.row(row).begin(), chunk.row(row).end()}});
  });
  result.head = encode_head(head);
  applied_lsn_ = lsn;
  return result;
}

Status VectorWriter::adopt(const VectorCheckpointHead& head, Draft next) {
  const Error twice{Code::kDataLoss, "a checkpoint of vectors names an id twice"};
  for (std::uint32_t p = 0; p < next.postings.size(); ++p) {
    const auto ids = next.postings[p]->ids();
    for (std::uint32_t slot = 0; slot < ids.size(); ++slot) {
      if (core_.places.get(ids[slot]).word != 0) return twice;
      core_.places.set(ids[slot], Place::at(p, slot));
    }
    live_ += ids.size();
  }
  next.pending = {tail_, 0};
  publish(std::move(next));
  for (const Item& item : head.pending) {
    if (core_.places.get(item.id).word != 0) return twice;
    KIN_RETURN_IF_ERROR(append(item.id, item.rotated));
    core_.places.set(item.id, Place::without(VectorState::kPending));
    ++live_;
  }
  trained_ = head.trained;
  applied_lsn_ = head.lsn;
  sums_ = head.sums;
  dirty_.assign(sums_.size(), false);
  return Done{};
}

VectorStats VectorWriter::stats() const {
  const auto snapshot = core_.snapshot();
  VectorStats stats{.vectors = live_,
                    .pending = pending_.size(),
                    .deleted = pending_rows_ - pending_.size(),
                    .partitions = static_cast<std::uint32_t>(snapshot->postings.size()),
                    .bytes = sizeof(VectorCore) + core_.places.bytes()};
  for (const auto& posting : snapshot->postings) {
    stats.deleted += posting->size() - posting->live();
    stats.bytes += posting->bytes() + sizeof(posting);
  }
  if (snapshot->centres != nullptr) stats.bytes += snapshot->centres->bytes();
  for (const PendingChunk* chunk = snapshot->pending.first.get(); chunk != nullptr;
       chunk = chunk->next())
    stats.bytes += chunk->bytes();
  stats.bytes += pending_.size() * (sizeof(PendingRow) + 24);
  return stats;
}

}  // namespace kin::index::internal
