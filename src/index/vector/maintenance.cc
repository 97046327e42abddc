// Training, splits, merges: the part of VectorWriter that runs in the background.
#include <algorithm>

#include "base/breath.h"
#include "base/random.h"
#include "index/vector/kernels.h"
#include "index/vector/recall.h"
#include "index/vector/writer.h"

namespace kin::index::internal {
namespace {

// An index of fewer vectors has no cells: they are compared one by one.
constexpr std::uint64_t kTrainAt = 2048;
// Train again when the number of vectors has grown by this factor.
constexpr std::uint64_t kRetrainGrowth = 4;
constexpr std::size_t kSampleOfCell = 64;
// Split a cell above target * kSplitAt vectors, merge one below target / kMergeAt, and rewrite one
// with more than one dead slot in kReclaimAt.
constexpr std::uint32_t kSplitAt = 3;
constexpr std::uint32_t kMergeAt = 8;
constexpr std::uint32_t kReclaimAt = 5;
// Building pending vectors into their cells rewrites nearly every cell, since vectors come in no
// order. A large index waits until they are one in kWorthIt of all, or until no insert came for a
// while.
constexpr std::uint64_t kLarge = 50'000;
constexpr std::uint64_t kWorthIt = 32;
constexpr auto kQuiet = std::chrono::milliseconds(50);
// Vectors that serve as queries when the recall curve is measured.
constexpr std::size_t kCurveQueries = 128;

}  // namespace

Result<StepOutcome> VectorWriter::step(SteadyTime now) {
  if (training_) {
    if (training_->round()) return StepOutcome::worked();
    KIN_RETURN_IF_ERROR(finish_training());
    return StepOutcome::worked();
  }
  std::unique_lock lock(changes_);
  const std::uint64_t live = live_;
  const std::uint64_t rows = pending_rows_;
  // A step sees only that there were inserts since the last one; `now` is late by a step at most.
  if (inserts_ != seen_inserts_) grew_at_ = now;
  seen_inserts_ = inserts_;
  lock.unlock();
  const bool trained = core_.snapshot()->centres != nullptr;
  if (live >= kTrainAt && (!trained || live >= kRetrainGrowth * trained_)) {
    KIN_RETURN_IF_ERROR(start_training());
    return StepOutcome::worked();
  }
  if (!trained) return StepOutcome::idle();
  KIN_TRY(const bool tidied, tidy());
  if (tidied) return StepOutcome::worked();
  if (rows == 0) return StepOutcome::idle();
  if (live >= kLarge && rows < live / kWorthIt && now < grew_at_ + kQuiet)
    return StepOutcome::not_before(grew_at_ + kQuiet);
  KIN_RETURN_IF_ERROR(build_pending(live));
  return StepOutcome::worked();
}

std::vector<VectorWriter::Source> VectorWriter::sources(Draft& next) const {
  std::vector<Source> result;
  for (const auto& posting : next.postings) {
    for (std::uint32_t slot = 0; slot < posting->size(); ++slot)
      if (!posting->is_dead(slot)) result.push_back({posting.get(), nullptr, slot});
  }
  take_rows(next, next.rows, [&](const PendingChunk& chunk, std::uint32_t row) {
    result.push_back({nullptr, &chunk, row});
  });
  return result;
}

Status VectorWriter::read(const Source& source, std::vector<float>& out) const {
  if (source.posting == nullptr) {
    const auto row = source.chunk->row(source.at);
    out.assign(row.begin(), row.end());
    return Done{};
  }
  KIN_TRY(const bool found, core_.read(*source.posting, source.at, out));
  if (found) return Done{};
  return Error{Code::kUnavailable,
               "the vector of id " + std::to_string(source.id()) + " could not be read"};
}

Status VectorWriter::start_training() {
  Draft now = begin_draft();
  const std::vector<Source> all = sources(now);
  const std::size_t centres =
      std::clamp<std::size_t>(all.size() / core_.options.cell_size, 1, CellSlot::kMostCells / 2);
  const std::size_t wanted = std::min(all.size(), centres * kSampleOfCell);
  Matrix sample(core_.options.space.dimension);
  sample.reserve(wanted);
  Random random(core_.options.space.seed + all.size());
  std::vector<float> vector;
  for (std::size_t i = 0, left = wanted; i < all.size() && left > 0; ++i) {
    // Selection sampling: each of the rest is taken with probability left / rest, so exactly
    // `wanted` are, in their order.
    if (random.below(all.size() - i) >= left) continue;
    --left;
    KIN_RETURN_IF_ERROR(read(all[i], vector));
    sample.add(vector);
  }
  training_.emplace(std::move(sample), centres, core_.options.space.seed);
  return Done{};
}

// For each centre the indexes of the sources nearest to it. The meter sees all of them.
Result<std::vector<std::vector<std::uint32_t>>> VectorWriter::members_of(
    const Centres& centres, const std::vector<Source>& all, RecallMeter& meter) const {
  std::vector<float> vector;
  for (std::size_t i = 0; i < std::min(kCurveQueries, all.size()); ++i) {
    // Spread over all, because neighbours in this order are often of one cell.
    const std::size_t at = i * all.size() / std::min(kCurveQueries, all.size());
    KIN_RETURN_IF_ERROR(read(all[at], vector));
    meter.add_query(at, vector);
  }
  std::vector<std::vector<std::uint32_t>> members(centres.size());
  std::vector<float> scratch;
  for (std::size_t i = 0; i < all.size(); ++i) {
    take_breath();
    KIN_RETURN_IF_ERROR(read(all[i], vector));
    const std::uint32_t owner = centres.nearest(vector.data(), scratch);
    members[owner].push_back(static_cast<std::uint32_t>(i));
    meter.see(i, vector, owner);
  }
  return members;
}

Result<std::shared_ptr<Posting>> VectorWriter::encoded(const std::vector<Source>& all,
                                                       std::span<const std::uint32_t> members,
                                                       std::span<const float> centre) const {
  auto posting = std::make_shared<Posting>(core_.options.space, core_.encoder.full_error_ratio(),
                                           static_cast<std::uint32_t>(members.size()));
  VectorCode code;
  std::vector<float> vector;
  for (std::uint32_t slot = 0; slot < members.size(); ++slot) {
    take_breath();
    const Source& source = all[members[slot]];
    KIN_RETURN_IF_ERROR(read(source, vector));
    core_.encoder.encode(vector, centre, code);
    posting->set(slot, source.id(), code);
    posting->set_raw(slot, vector);
  }
  posting->finish();
  return posting;
}

// A cell that is too large for a posting becomes several with the same centroid.
void VectorWriter::cut_large(std::vector<std::vector<std::uint32_t>>& members, Matrix& centres) {
  constexpr std::size_t kMost = kMostSlots / 2;  // with room for vectors that come later
  for (std::size_t p = 0; p < members.size(); ++p) {
    if (members[p].size() <= kMost) continue;
    const std::vector<std::uint32_t> rest(members[p].begin() + kMost, members[p].end());
    members[p].resize(kMost);
    members.push_back(rest);
    const std::vector<float> centre(centres.row(p).begin(), centres.row(p).end());
    centres.add(centre);
  }
}

Status VectorWriter::finish_training() {
  Matrix centres = training_->take();
  training_.reset();
  // Training took several steps. All vectors of now are placed, also those inserted meanwhile.
  Draft next = begin_draft();
  const std::vector<Source> all = sources(next);
  next.centres = std::move(centres);
  next.postings.clear();
  next.touched.clear();
  RecallMeter meter(core_.options.space.dimension, core_.options.space.distance == Distance::kDot);
  KIN_TRY(auto members, members_of(Centres(next.centres), all, meter));
  cut_large(members, next.centres);
  for (std::uint32_t p = 0; p < members.size(); ++p) {
    KIN_TRY(std::shared_ptr<Posting> posting, encoded(all, members[p], next.centres.row(p)));
    next.put(p, std::move(posting));
  }
  next.curve = meter.curve(next);
  trained_ = all.size();
  publish(std::move(next));
  return Done{};
}

Result<bool> VectorWriter::tidy() {
  const auto snapshot = core_.snapshot();
  const auto& postings = snapshot->postings;
  const std::uint32_t aim = core_.options.cell_size;
  for (std::uint32_t p = 0; p < postings.size(); ++p) {
    const std::uint32_t live = postings[p]->live();
    if (live > kSplitAt * aim && postings.size() < CellSlot::kMostCells) {
      KIN_RETURN_IF_ERROR(split(p));
      return true;
    }
    // Only cells that lost vectors: a small cell of k-means may be right as it is.
    if (live < aim / kMergeAt && postings.size() > 1 && postings[p]->size() > live) {
      KIN_RETURN_IF_ERROR(merge(p));
      return true;
    }
    if ((postings[p]->size() - live) * kReclaimAt > postings[p]->size()) {
      reclaim(p);
      return true;
    }
  }
  return false;
}

void VectorWriter::reclaim(std::uint32_t cell) {
  Draft next = begin_draft();
  next.put(cell, extended(*next.postings[cell], next.centres.row(cell), {}));
  publish(std::move(next));
}

Status VectorWriter::split(std::uint32_t cell) {
  Draft next = begin_draft();
  KIN_TRY(const std::vector<Item> items, items_of(*next.postings[cell]));
  Matrix points(core_.options.space.dimension);
  for (const Item& item : items) points.add(item.rotated);
  KMeans two(std::move(points), 2, core_.options.space.seed + cell);
  while (two.round()) {  // few points, so all rounds fit into one step
  }
  const Matrix centres = two.take();
  std::copy_n(centres.row(0).begin(), centres.columns(), next.centres.row(cell).begin());
  next.centres.add(centres.row(1));
  const auto other = static_cast<std::uint32_t>(next.postings.size());
  next.put(cell, empty_posting());
  next.put(other, empty_posting());
  assign(next, items, owners_after_split(next, items, {cell, other}));
  publish(std::move(next));
  return Done{};
}

// A vector moves to another cell only if it is nearer to its centroid: equal centroids would pass
// their vectors back and forth for ever.
std::vector<std::uint32_t> VectorWriter::owners_after_split(const Draft& next,
                                                            const std::vector<Item>& items,
                                                            Halves halves) {
  const Centres all(next.centres);
  const auto square = [&](const Item& item, std::uint32_t p) {
    const auto centre = next.centres.row(p);
    return squared_l2(item.rotated.data(), centre.data(), centre.size());
  };
  std::vector<float> scratch;
  std::vector<std::uint32_t> owners;
  std::size_t stayed = 0;
  for (const Item& item : items) {
    std::uint32_t owner = all.nearest(item.rotated.data(), scratch);
    const float first = square(item, halves.first);
    const float second = square(item, halves.second);
    const bool to_others = owner != halves.first && owner != halves.second;
    if (!to_others || square(item, owner) >= std::min(first, second))
      owner = second < first ? halves.second : halves.first;
    stayed += owner == halves.first ? 1 : 0;
    owners.push_back(owner);
  }
  // No centroid separates equal vectors: half of them move.
  if (stayed == items.size()) {
    for (std::size_t i = 0; i < owners.size(); i += 2) owners[i] = halves.second;
  }
  return owners;
}

// The last cell takes the number of the merged one, so that numbers stay dense.
Status VectorWriter::merge(std::uint32_t cell) {
  Draft next = begin_draft();
  KIN_TRY(const std::vector<Item> items, items_of(*next.postings[cell]));
  const auto last = static_cast<std::uint32_t>(next.postings.size() - 1);
  // Copied first, because both rows are in one matrix.
  std::ranges::copy(std::vector(next.centres.row(last).begin(), next.centres.row(last).end()),
                    next.centres.row(cell).begin());
  next.centres.resize(last);
  if (cell != last) next.put(cell, extended(*next.postings[last], next.centres.row(cell), {}));
  next.postings.resize(last);
  next.touched.resize(last);
  assign_nearest(next, items);
  publish(std::move(next));
  return Done{};
}

}  // namespace kin::index::internal
