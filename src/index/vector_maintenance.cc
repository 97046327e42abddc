// Training, splits, merges: the part of VectorWriter that nobody waits for.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>

#include "base/random.h"
#include "index/internal/vector_kernels.h"
#include "index/internal/vector_writer.h"

namespace kin::index::internal {
namespace {

// Fewer vectors are searched one by one.
constexpr std::uint64_t kTrainAt = 2048;
// It is trained again when there are so many times the vectors of the last training.
constexpr std::uint64_t kRetrainGrowth = 4;
constexpr std::size_t kSampleOfPartition = 64;
// A posting is split when it has grown to so many times the size aimed at, merged when it has
// shrunk to one so many-th, and written anew when one in so many of its slots is dead.
constexpr std::uint32_t kSplitAt = 3;
constexpr std::uint32_t kMergeAt = 8;
constexpr std::uint32_t kReclaimAt = 5;
// Vectors that stand for queries when the recall curve is measured, and their neighbours.
constexpr std::size_t kCurveQueries = 128;
constexpr std::size_t kCurveNeighbours = 10;

// Measures where the neighbours of some vectors are.
class CurveMeter {
 public:
  CurveMeter(std::size_t dimension, bool products) : queries_(dimension), products_(products) {}

  void add_query(std::size_t source, std::span<const float> vector) {
    queries_.add(vector);
    sources_.push_back(source);
    squares_.push_back(dot(vector.data(), vector.data(), vector.size()));
  }
  void see(std::size_t source, const float* vector, float square, std::uint32_t owner) {
    scratch_.resize(queries_.rows());
    nearest_.resize(queries_.rows());
    dot_rows(vector, queries_.data(), queries_.stride(), scratch_);
    for (std::size_t q = 0; q < scratch_.size(); ++q) {
      if (sources_[q] == source) continue;
      const float distance = products_ ? -scratch_[q] : square - 2 * scratch_[q];
      auto& heap = nearest_[q];
      if (heap.size() == kCurveNeighbours && distance >= heap.top().first) continue;
      heap.emplace(distance, owner);
      if (heap.size() > kCurveNeighbours) heap.pop();
    }
  }
  RecallCurve curve(const Draft& draft) {
    const Centres centres(draft.centres);
    std::vector<float> shares;
    std::vector<float> reaches;
    for (std::size_t q = 0; q < nearest_.size(); ++q) add(draft, centres, q, shares, reaches);
    return {percentiles(std::move(shares)), percentiles(std::move(reaches))};
  }

 private:
  static std::vector<float> percentiles(std::vector<float> values) {
    std::ranges::sort(values);
    std::vector<float> result;
    for (std::size_t i = 0; i < kCurvePoints && !values.empty(); ++i)
      result.push_back(values[i * (values.size() - 1) / (kCurvePoints - 1)]);
    return result;
  }
  void add(const Draft& draft, const Centres& centres, std::size_t q, std::vector<float>& shares,
           std::vector<float>& reaches) {
    std::vector<float> products(centres.size());
    std::vector<float> distances(centres.size());
    centres.products(queries_.row(q).data(), products);
    for (std::size_t i = 0; i < products.size(); ++i)
      distances[i] = products_ ? -products[i] : centres.square(i) - 2 * products[i];
    auto& heap = nearest_[q];
    const float limit = heap.empty() ? 0 : heap.top().first + (products_ ? 0 : squares_[q]);
    for (; !heap.empty(); heap.pop()) {
      const std::uint32_t own = heap.top().second;
      const auto before =
          std::ranges::count_if(distances, [&](float d) { return d <= distances[own]; });
      shares.push_back(static_cast<float>(before) / static_cast<float>(distances.size()));
      const float square = std::max(0.0F, squares_[q] + centres.square(own) - 2 * products[own]);
      const PartitionView view{products_ ? -products[own] : square, std::sqrt(square)};
      reaches.push_back(reach_needed(view, draft.postings[own]->spread(), limit,
                                     std::sqrt(squares_[q]), products_));
    }
  }

  Matrix queries_;
  bool products_;
  std::vector<std::size_t> sources_;
  std::vector<float> squares_;
  std::vector<float> scratch_;
  std::vector<std::priority_queue<std::pair<float, std::uint32_t>>> nearest_;
};

}  // namespace

Result<bool> VectorWriter::step() {
  if (training_) {
    if (training_->round()) return true;
    KIN_RETURN_IF_ERROR(finish_training());
    return true;
  }
  const bool trained = core_.snapshot()->centres != nullptr;
  if (live_ >= kTrainAt && (!trained || live_ >= kRetrainGrowth * trained_))
    return start_training();
  if (!trained) return false;
  KIN_TRY(const bool tidied, tidy());
  if (tidied) return true;
  if (pending_rows_ == 0) return false;
  KIN_RETURN_IF_ERROR(build_pending());
  return true;
}

Result<std::vector<VectorWriter::Source>> VectorWriter::sources() const {
  std::vector<Source> result;
  const auto snapshot = core_.snapshot();
  for (const auto& posting : snapshot->postings) {
    for (std::uint32_t slot = 0; slot < posting->size(); ++slot)
      if (!posting->is_dead(slot)) result.push_back({posting.get(), nullptr, slot});
  }
  snapshot->pending.each([&](const PendingChunk& chunk, std::uint32_t row) {
    if (!chunk.is_dead(row)) result.push_back({nullptr, &chunk, row});
  });
  return result;
}

Result<bool> VectorWriter::read(const Source& source, std::vector<float>& out) const {
  if (source.posting != nullptr) return core_.read(*source.posting, source.at, out);
  const auto row = source.chunk->row(source.at);
  out.assign(row.begin(), row.end());
  return true;
}

Result<bool> VectorWriter::start_training() {
  KIN_TRY(const std::vector<Source> all, sources());
  const std::size_t centres = std::clamp<std::size_t>(all.size() / core_.options.partition_size, 1,
                                                      Place::kMostPartitions / 2);
  const std::size_t wanted = std::min(all.size(), centres * kSampleOfPartition);
  Matrix sample(core_.options.space.dimension);
  sample.reserve(wanted);
  Random random(core_.options.space.seed + all.size());
  std::vector<float> vector;
  for (std::size_t i = 0, left = wanted; i < all.size() && left > 0; ++i) {
    if (random.below(all.size() - i) >= left) continue;
    --left;
    KIN_TRY(const bool found, read(all[i], vector));
    if (found) sample.add(vector);
  }
  if (sample.rows() < centres)
    return Error{Code::kUnavailable, "too few vectors were found where they should be"};
  training_.emplace(std::move(sample), centres, core_.options.space.seed);
  return true;
}

Status VectorWriter::finish_training() {
  Draft next{
      .centres = training_->take(), .postings = {}, .pending = {}, .curve = {}, .touched = {}};
  training_.reset();
  const auto held = core_.snapshot();
  KIN_TRY(const std::vector<Source> all, sources());
  const Centres centres(next.centres);
  CurveMeter meter(core_.options.space.dimension, core_.options.space.distance == Distance::kDot);
  std::vector<float> vector;
  for (std::size_t i = 0; i < kCurveQueries; ++i) {
    const std::size_t at = i * all.size() / kCurveQueries;
    KIN_TRY(const bool found, read(all[at], vector));
    if (found) meter.add_query(at, vector);
  }
  std::vector<std::vector<std::uint32_t>> members(centres.size());
  std::vector<float> scratch;
  for (std::size_t i = 0; i < all.size(); ++i) {
    KIN_TRY(const bool found, read(all[i], vector));
    if (!found) return Error{Code::kUnavailable, "a vector is not where it should be"};
    const std::uint32_t owner = centres.nearest(vector.data(), scratch);
    members[owner].push_back(static_cast<std::uint32_t>(i));
    meter.see(i, vector.data(), dot(vector.data(), vector.data(), vector.size()), owner);
  }
  // A partition that is too large for a posting becomes several with one centroid.
  const std::size_t most = kMostSlots / 2;
  for (std::size_t p = 0; p < members.size(); ++p) {
    if (members[p].size() <= most) continue;
    members.emplace_back(members[p].begin() + static_cast<std::ptrdiff_t>(most), members[p].end());
    members[p].resize(most);
    const std::vector<float> centre(next.centres.row(p).begin(), next.centres.row(p).end());
    next.centres.add(centre);
  }
  VectorCode code;
  for (std::uint32_t p = 0; p < members.size(); ++p) {
    auto posting = std::make_shared<Posting>(core_.options.space, core_.encoder.full_error_ratio(),
                                             static_cast<std::uint32_t>(members[p].size()));
    for (std::uint32_t slot = 0; slot < members[p].size(); ++slot) {
      const Source& source = all[members[p][slot]];
      KIN_TRY(const bool found, read(source, vector));
      if (!found) return Error{Code::kUnavailable, "a vector is not where it should be"};
      core_.encoder.encode(vector, next.centres.row(p), code);
      const std::uint32_t id = source.posting != nullptr ? source.posting->ids()[source.at]
                                                         : source.chunk->id(source.at);
      posting->set(slot, id, code);
      posting->set_raw(slot, vector);
    }
    posting->finish();
    next.put(p, std::move(posting));
  }
  next.curve = meter.curve(next);
  std::vector<std::uint32_t> purged;
  held->pending.each([&](const PendingChunk& chunk, std::uint32_t row) {
    if (chunk.is_dead(row)) purged.push_back(chunk.id(row));
  });
  tail_ = std::make_shared<PendingChunk>(padded_dimension(core_.options.space.dimension));
  // Readers of older snapshots follow the log on into the new piece.
  PendingChunk* last = held->pending.first.get();
  while (last->next() != nullptr) last = last->next_shared().get();
  last->set_next(tail_);
  next.pending = {tail_, 0};
  pending_ = {};
  pending_rows_ = 0;
  trained_ = all.size();
  publish(std::move(next));
  for (const std::uint32_t id : purged) {
    if (core_.places.get(id).state() == VectorState::kPendingDeleted) core_.places.set(id, {});
  }
  return Done{};
}

Result<bool> VectorWriter::tidy() {
  const auto snapshot = core_.snapshot();
  const auto& postings = snapshot->postings;
  const std::uint32_t aim = core_.options.partition_size;
  for (std::uint32_t p = 0; p < postings.size(); ++p) {
    const std::uint32_t live = postings[p]->live();
    if (live > kSplitAt * aim && postings.size() < Place::kMostPartitions) {
      KIN_RETURN_IF_ERROR(split(p));
      return true;
    }
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

void VectorWriter::reclaim(std::uint32_t partition) {
  Draft next = draft();
  const Centres centres(next.centres);
  next.put(partition, extended(*next.postings[partition], centres, partition, {}));
  publish(std::move(next));
}

Status VectorWriter::split(std::uint32_t partition) {
  Draft next = draft();
  KIN_TRY(const std::vector<Item> items, items_of(*next.postings[partition]));
  Matrix points(core_.options.space.dimension);
  for (const Item& item : items) points.add(item.rotated);
  KMeans two(std::move(points), 2, core_.options.space.seed + partition);
  while (two.round()) {
  }
  const Matrix centres = two.take();
  std::copy_n(centres.row(0).begin(), centres.columns(), next.centres.row(partition).begin());
  next.centres.add(centres.row(1));
  const auto other = static_cast<std::uint32_t>(next.postings.size());
  const auto empty = [&] {
    auto posting =
        std::make_shared<Posting>(core_.options.space, core_.encoder.full_error_ratio(), 0U);
    posting->finish();
    return posting;
  };
  next.put(partition, empty());
  next.put(other, empty());
  const Centres all(next.centres);
  std::vector<float> scratch;
  std::vector<std::uint32_t> owners;
  std::size_t stayed = 0;
  for (const Item& item : items) {
    owners.push_back(all.nearest(item.rotated.data(), scratch));
    stayed += owners.back() == partition ? 1 : 0;
  }
  // Equal vectors cannot be told apart by any centroid: half of them move.
  if (stayed == items.size()) {
    for (std::size_t i = 0; i < owners.size(); i += 2) owners[i] = other;
  }
  assign(next, items, owners);
  publish(std::move(next));
  return Done{};
}

// The last partition takes the number of the one that goes.
Status VectorWriter::merge(std::uint32_t partition) {
  Draft next = draft();
  KIN_TRY(const std::vector<Item> items, items_of(*next.postings[partition]));
  const auto last = static_cast<std::uint32_t>(next.postings.size() - 1);
  std::ranges::copy(std::vector(next.centres.row(last).begin(), next.centres.row(last).end()),
                    next.centres.row(partition).begin());
  next.centres.resize(last);
  if (partition != last) {
    const Centres centres(next.centres);
    next.put(partition, extended(*next.postings[last], centres, partition, {}));
  }
  next.postings.resize(last);
  next.touched.resize(last);
  assign_nearest(next, items);
  publish(std::move(next));
  return Done{};
}

}  // namespace kin::index::internal
