#include "index/vector/writer.h"

#include <algorithm>
#include <map>

#include "base/breath.h"
#include "base/hash.h"
#include "index/vector/kernels.h"

namespace kin::index::internal {
namespace {

// A step takes at most kBatch pending vectors, or one in kShareOfAll of all if that is more. Cells
// that get vectors are rewritten: nearly all of them, since vectors come in no order.
constexpr std::uint64_t kBatch = 1024;
constexpr std::uint64_t kShareOfAll = 8;

}  // namespace

void Draft::put(std::uint32_t cell, std::shared_ptr<Posting> posting) {
  if (cell >= postings.size()) {
    postings.resize(cell + 1);
    touched.resize(cell + 1);
  }
  postings[cell] = std::move(posting);
  touched[cell] = true;
}

VectorWriter::VectorWriter(VectorCore& core)
    : core_(core),
      tail_(std::make_shared<PendingChunk>(padded_dimension(core.options.space.dimension))) {
  auto first = std::make_shared<Snapshot>();
  first->pending = {tail_, 0};
  core_.publish(std::move(first));
}

void VectorWriter::append(std::uint32_t id, std::span<const float> rotated) {
  if (tail_->size() == PendingChunk::kRows) {
    auto next = std::make_shared<PendingChunk>(rotated.size());
    tail_->set_next(next);
    tail_ = std::move(next);
  }
  const std::uint32_t row = tail_->size();
  tail_->append(id, rotated);
  pending_[id] = {tail_, row};
  ++pending_rows_;
  ++inserts_;
}

Status VectorWriter::insert(std::uint32_t id, std::span<const float> vector) {
  KIN_RETURN_IF_ERROR(check_vector(core_.options.space, vector));
  KIN_TRY(const std::vector<float> rotated, core_.rotated(vector));
  const std::lock_guard lock(changes_);
  const CellSlot old = core_.slots.get(id);
  std::optional<PendingRow> replaced;
  if (const auto found = pending_.find(id); found != pending_.end()) replaced = found->second;
  // The new vector is in the log before the old one is marked: a search finds one of them or both.
  append(id, rotated);
  // Deleted rows of this id that are not reclaimed yet no longer change its state.
  core_.slots.set(id, CellSlot::without(VectorState::kPending));
  if (replaced) replaced->chunk->mark_dead(replaced->row);
  if (old.is_indexed()) forget(old);
  // A running step may be moving the old vector: publish() must mark it again.
  if (replaced || old.is_indexed())
    disturbed_.insert(id);
  else
    ++live_;
  return Done{};
}

void VectorWriter::forget(CellSlot slot) {
  const auto snapshot = core_.snapshot();
  snapshot->postings[slot.cell()]->mark_dead(slot.slot());
  dirty_[slot.cell()] = true;
}

bool VectorWriter::remove(std::uint32_t id) {
  const std::lock_guard lock(changes_);
  const CellSlot old = core_.slots.get(id);
  const auto found = pending_.find(id);
  if (!old.is_indexed() && found == pending_.end()) return false;
  disturbed_.insert(id);
  --live_;
  if (old.is_indexed()) {
    core_.slots.set(id, CellSlot::without(VectorState::kDeleted));
    forget(old);
    return true;
  }
  found->second.chunk->mark_dead(found->second.row);
  pending_.erase(found);
  core_.slots.set(id, CellSlot::without(VectorState::kPendingDeleted));
  return true;
}

Draft VectorWriter::begin_draft() {
  const std::lock_guard lock(changes_);
  disturbed_.clear();
  const auto now = core_.snapshot();
  Draft next{.centres = Matrix(core_.options.space.dimension),
             .postings = now->postings,
             .pending = now->pending,
             .curve = now->curve,
             .touched = std::vector<bool>(now->postings.size(), false),
             .rows = pending_rows_};
  if (now->centres != nullptr) next.centres = now->centres->matrix();
  return next;
}

void VectorWriter::take_rows(Draft& next, std::uint64_t most, const SeeRow& see) {
  PendingView& view = next.pending;
  for (most = std::min(most, next.rows); next.taken_rows < most; ++next.taken_rows) {
    // next_shared() is safe here: the rows to take exist, so the next chunk does.
    if (view.from == PendingChunk::kRows) view = {view.first->next_shared(), 0};
    const PendingChunk& chunk = *view.first;
    const std::uint32_t row = view.from++;
    if (chunk.is_dead(row)) {
      next.purged.push_back(chunk.id(row));
      continue;
    }
    next.taken.push_back(chunk.id(row));
    see(chunk, row);
  }
}

// Ids whose deleted slots disappear with the old postings become absent. Slots are set before the
// snapshot is published: a reader of the new snapshot must not look in the log for a vector that
// has left it.
void VectorWriter::publish(Draft next) {
  auto snapshot = std::make_shared<Snapshot>();
  if (next.centres.rows() > 0)
    snapshot->centres = std::make_shared<const Centres>(std::move(next.centres));
  // The centres were made without the lock: squaring them takes a while.
  const std::lock_guard lock(changes_);
  const auto old = core_.snapshot();
  for (std::uint32_t p = 0; p < old->postings.size(); ++p) {
    if (p < next.postings.size() && !next.touched[p]) continue;
    const Posting& posting = *old->postings[p];
    for (std::uint32_t slot = 0; slot < posting.size(); ++slot) {
      const std::uint32_t id = posting.ids()[slot];
      if (posting.is_dead(slot) && core_.slots.get(id).state() == VectorState::kDeleted)
        core_.slots.set(id, {});
    }
  }
  leave_log(next);
  place_new(next);
  snapshot->postings = std::move(next.postings);
  snapshot->pending = std::move(next.pending);
  snapshot->curve = std::move(next.curve);
  core_.publish(std::move(snapshot));
}

void VectorWriter::place_new(const Draft& next) {
  dirty_.resize(next.postings.size());
  for (std::uint32_t p = 0; p < next.postings.size(); ++p) {
    if (!next.touched[p]) continue;
    dirty_[p] = true;
    const auto ids = next.postings[p]->ids();
    for (std::uint32_t slot = 0; slot < ids.size(); ++slot) {
      // Usually nothing was disturbed, which spares a look-up for each vector.
      if (disturbed_.empty() || !disturbed_.contains(ids[slot])) {
        core_.slots.set(ids[slot], CellSlot::at(p, slot));
        continue;
      }
      next.postings[p]->mark_dead(slot);
      // It stays pending if it was inserted again.
      if (core_.slots.get(ids[slot]).state() != VectorState::kPending)
        core_.slots.set(ids[slot], CellSlot::without(VectorState::kDeleted));
    }
  }
}

void VectorWriter::leave_log(const Draft& next) {
  for (const std::uint32_t id : next.taken)
    if (!disturbed_.contains(id)) pending_.erase(id);
  for (const std::uint32_t id : next.purged) {
    if (core_.slots.get(id).state() == VectorState::kPendingDeleted) core_.slots.set(id, {});
  }
  pending_rows_ -= next.taken_rows;
}

Result<std::vector<Item>> VectorWriter::items_of(const Posting& posting) const {
  std::vector<Item> items;
  for (std::uint32_t slot = 0; slot < posting.size(); ++slot) {
    if (posting.is_dead(slot)) continue;
    Item& item = items.emplace_back(Item{posting.ids()[slot], {}});
    KIN_RETURN_IF_ERROR(read({&posting, nullptr, slot}, item.rotated));
  }
  return items;
}

std::shared_ptr<Posting> VectorWriter::extended(const Posting& old, std::span<const float> centre,
                                                std::span<const Item* const> more) const {
  std::vector<std::uint32_t> kept;
  for (std::uint32_t from = 0; from < old.size(); ++from)
    if (!old.is_dead(from)) kept.push_back(from);
  auto posting = std::make_shared<Posting>(core_.options.space, core_.encoder.full_error_ratio(),
                                           static_cast<std::uint32_t>(kept.size() + more.size()));
  std::uint32_t slot = 0;
  for (const std::uint32_t from : kept) posting->copy(slot++, old, from);
  VectorCode code;
  for (const Item* item : more) {
    core_.encoder.encode(item->rotated, centre, code);
    posting->set(slot, item->id, code);
    posting->set_raw(slot++, item->rotated);
  }
  posting->finish();
  return posting;
}

// Vectors that a cell has no room for go to new cells with the same centroid; a split moves it
// later.
void VectorWriter::assign(Draft& next, const std::vector<Item>& items,
                          std::span<const std::uint32_t> owners) const {
  std::map<std::uint32_t, std::vector<const Item*>> groups;
  for (std::size_t i = 0; i < items.size(); ++i) groups[owners[i]].push_back(&items[i]);
  for (const auto& [cell, members] : groups) {
    take_breath();
    // A copy: adding a centre below may move the matrix.
    const std::vector<float> centre(next.centres.row(cell).begin(), next.centres.row(cell).end());
    const Posting& old = *next.postings[cell];
    std::span<const Item* const> rest(members);
    const std::size_t fitting = std::min<std::size_t>(rest.size(), kMostSlots - old.live());
    next.put(cell, extended(old, centre, rest.first(fitting)));
    for (rest = rest.subspan(fitting); !rest.empty();) {
      const std::size_t some = std::min<std::size_t>(rest.size(), kMostSlots / 2);
      next.put(next.centres.rows(), extended(*empty_posting(), centre, rest.first(some)));
      next.centres.add(centre);
      rest = rest.subspan(some);
    }
  }
}

std::shared_ptr<Posting> VectorWriter::empty_posting() const {
  auto posting =
      std::make_shared<Posting>(core_.options.space, core_.encoder.full_error_ratio(), 0U);
  posting->finish();
  return posting;
}

void VectorWriter::assign_nearest(Draft& next, const std::vector<Item>& items) const {
  const Centres centres(next.centres);
  std::vector<float> scratch;
  std::vector<std::uint32_t> owners;
  for (const Item& item : items) {
    take_breath();
    owners.push_back(centres.nearest(item.rotated.data(), scratch));
  }
  assign(next, items, owners);
}

Status VectorWriter::build_pending(std::uint64_t live) {
  Draft next = begin_draft();
  std::vector<Item> items;
  take_rows(next, std::max(kBatch, live / kShareOfAll),
            [&](const PendingChunk& chunk, std::uint32_t row) {
              items.push_back({chunk.id(row), {chunk.row(row).begin(), chunk.row(row).end()}});
            });
  assign_nearest(next, items);
  publish(std::move(next));
  return Done{};
}

VectorCheckpoint VectorWriter::checkpoint(std::uint64_t lsn, VectorIndex::Scope scope) {
  std::unique_lock lock(changes_);
  const auto snapshot = core_.snapshot();
  std::vector<bool> changed(snapshot->postings.size(), scope == VectorIndex::Scope::kAll);
  if (scope == VectorIndex::Scope::kChanged) changed = dirty_;
  // Later changes count for the next checkpoint; postings never change except for their marks.
  dirty_.assign(dirty_.size(), false);
  applied_lsn_ = lsn;
  std::uint64_t rows = pending_rows_;
  lock.unlock();
  VectorCheckpoint result;
  result.cells = static_cast<std::uint32_t>(snapshot->postings.size());
  sums_.resize(result.cells);
  for (std::uint32_t p = 0; p < result.cells; ++p) {
    if (!changed[p]) continue;
    take_breath();
    std::string bytes = encode_cell(p, snapshot->centres->matrix().row(p), *snapshot->postings[p]);
    sums_[p] = checksum(bytes);
    result.changed.emplace_back(p, std::move(bytes));
  }
  VectorCheckpointHead head{.space = core_.options.space,
                            .lsn = lsn,
                            .trained = trained_,
                            .curve = snapshot->curve,
                            .sums = sums_,
                            .pending = {}};
  // Later rows are left out: they may replace vectors that the cells above still hold.
  snapshot->pending.each([&](const PendingChunk& chunk, std::uint32_t row) {
    if (rows == 0) return;
    --rows;
    if (chunk.is_dead(row)) return;
    head.pending.push_back({chunk.id(row), {chunk.row(row).begin(), chunk.row(row).end()}});
  });
  result.head = encode_head(head);
  return result;
}

Status VectorWriter::adopt(const VectorCheckpointHead& head, Draft next) {
  const Error twice{Code::kDataLoss, "a checkpoint of vectors names an id twice"};
  for (std::uint32_t p = 0; p < next.postings.size(); ++p) {
    const auto ids = next.postings[p]->ids();
    for (std::uint32_t slot = 0; slot < ids.size(); ++slot) {
      // The table is empty at first, so any entry is one of this checkpoint.
      if (core_.slots.get(ids[slot]).word != 0) return twice;
      core_.slots.set(ids[slot], CellSlot::at(p, slot));
    }
    live_ += ids.size();
  }
  next.pending = {tail_, 0};
  publish(std::move(next));
  const std::lock_guard lock(changes_);
  for (const Item& item : head.pending) {
    if (core_.slots.get(item.id).word != 0) return twice;
    append(item.id, item.rotated);
    core_.slots.set(item.id, CellSlot::without(VectorState::kPending));
    ++live_;
  }
  trained_ = head.trained;
  applied_lsn_ = head.lsn;
  sums_ = head.sums;
  // publish() marked all cells; they are on disk as they are.
  dirty_.assign(sums_.size(), false);
  return Done{};
}

VectorStats VectorWriter::stats() const {
  std::unique_lock lock(changes_);
  const auto snapshot = core_.snapshot();
  VectorStats stats{.vectors = live_,
                    .pending = pending_.size(),
                    .deleted = pending_rows_ - pending_.size(),
                    .cells = static_cast<std::uint32_t>(snapshot->postings.size()),
                    .bytes = sizeof(VectorCore) + core_.slots.bytes()};
  // About 24 bytes a node of the hash map.
  stats.bytes += pending_.size() * (sizeof(PendingRow) + 24);
  lock.unlock();
  for (const auto& posting : snapshot->postings) {
    stats.deleted += posting->size() - posting->live();
    stats.bytes += posting->bytes() + sizeof(posting);
  }
  if (snapshot->centres != nullptr) stats.bytes += snapshot->centres->bytes();
  for (const PendingChunk* chunk = snapshot->pending.first.get(); chunk != nullptr;
       chunk = chunk->next())
    stats.bytes += chunk->bytes();
  return stats;
}

}  // namespace kin::index::internal
