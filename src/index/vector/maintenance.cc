// Training, splits, merges: the part of VectorWriter that nobody waits for.
#include <algorithm>
#include <thread>

#include "base/random.h"
#include "index/vector/kernels.h"
#include "index/vector/recall.h"
#include "index/vector/writer.h"

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
// Taking in pending vectors writes nearly every partition anew. In a large index it waits for one
// in so many of all, unless nobody inserts for a while.
constexpr std::uint64_t kLarge = 50'000;
constexpr std::uint64_t kWorthIt = 32;
constexpr auto kQuiet = std::chrono::milliseconds(50);
constexpr auto kMoment = std::chrono::milliseconds(1);
// Vectors that stand for queries when the recall curve is measured.
constexpr std::size_t kCurveQueries = 128;

}  // namespace

Result<bool> VectorWriter::step() {
  if (training_) {
    if (training_->round()) return true;
    KIN_RETURN_IF_ERROR(finish_training());
    return true;
  }
  std::unique_lock lock(changes_);
  const std::uint64_t live = live_;
  const std::uint64_t rows = pending_rows_;
  const bool busy = Clock::now() - last_insert_ < kQuiet;
  lock.unlock();
  const bool trained = core_.snapshot()->centres != nullptr;
  if (live >= kTrainAt && (!trained || live >= kRetrainGrowth * trained_)) {
    KIN_RETURN_IF_ERROR(start_training());
    return true;
  }
  if (!trained) return false;
  KIN_TRY(const bool tidied, tidy());
  if (tidied) return true;
  if (rows == 0) return false;
  if (busy && live >= kLarge && rows < live / kWorthIt) {
    std::this_thread::sleep_for(kMoment);
    return true;
  }
  KIN_RETURN_IF_ERROR(build_pending(live));
  return true;
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
               "the vector of id " + std::to_string(source.id()) + " is not where it should be"};
}

Status VectorWriter::start_training() {
  Draft now = begin_draft();
  const std::vector<Source> all = sources(now);
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
    KIN_RETURN_IF_ERROR(read(all[i], vector));
    sample.add(vector);
  }
  training_.emplace(std::move(sample), centres, core_.options.space.seed);
  return Done{};
}

// The numbers of the sources that each centre owns; the meter sees all of them.
Result<std::vector<std::vector<std::uint32_t>>> VectorWriter::members_of(
    const Centres& centres, const std::vector<Source>& all, RecallMeter& meter) const {
  std::vector<float> vector;
  for (std::size_t i = 0; i < std::min(kCurveQueries, all.size()); ++i) {
    const std::size_t at = i * all.size() / std::min(kCurveQueries, all.size());
    KIN_RETURN_IF_ERROR(read(all[at], vector));
    meter.add_query(at, vector);
  }
  std::vector<std::vector<std::uint32_t>> members(centres.size());
  std::vector<float> scratch;
  for (std::size_t i = 0; i < all.size(); ++i) {
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
    const Source& source = all[members[slot]];
    KIN_RETURN_IF_ERROR(read(source, vector));
    core_.encoder.encode(vector, centre, code);
    posting->set(slot, source.id(), code);
    posting->set_raw(slot, vector);
  }
  posting->finish();
  return posting;
}

// A partition that is too large for a posting becomes several with one centroid.
void VectorWriter::cut_large(std::vector<std::vector<std::uint32_t>>& members, Matrix& centres) {
  constexpr std::size_t kMost = kMostSlots / 2;
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
  Draft next = begin_draft();
  next.put(partition, extended(*next.postings[partition], next.centres.row(partition), {}));
  publish(std::move(next));
}

Status VectorWriter::split(std::uint32_t partition) {
  Draft next = begin_draft();
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
  next.put(partition, empty_posting());
  next.put(other, empty_posting());
  assign(next, items, owners_after_split(next, items, {partition, other}));
  publish(std::move(next));
  return Done{};
}

// Others get only what is nearer to them: centroids that are the same would hand their vectors to
// each other for ever.
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
  // Equal vectors cannot be told apart by any centroid: half of them move.
  if (stayed == items.size()) {
    for (std::size_t i = 0; i < owners.size(); i += 2) owners[i] = halves.second;
  }
  return owners;
}

// The last partition takes the number of the one that goes.
Status VectorWriter::merge(std::uint32_t partition) {
  Draft next = begin_draft();
  KIN_TRY(const std::vector<Item> items, items_of(*next.postings[partition]));
  const auto last = static_cast<std::uint32_t>(next.postings.size() - 1);
  std::ranges::copy(std::vector(next.centres.row(last).begin(), next.centres.row(last).end()),
                    next.centres.row(partition).begin());
  next.centres.resize(last);
  if (partition != last)
    next.put(partition, extended(*next.postings[last], next.centres.row(partition), {}));
  next.postings.resize(last);
  next.touched.resize(last);
  assign_nearest(next, items);
  publish(std::move(next));
  return Done{};
}

}  // namespace kin::index::internal
