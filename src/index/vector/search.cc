#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "index/vector/core.h"
#include "index/vector/kernels.h"

namespace kin::index::internal {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
// With a filter of at most this many ids, each id is looked up instead of scanning cells.
constexpr std::uint64_t kFewIds = 3000;
// Cells are sorted by distance in batches of this size: most searches need the first batch only.
constexpr std::size_t kOrdered = 64;
// A search ends after this many cells in a row that are unlikely to hold a neighbour.
constexpr std::size_t kMostMisses = 48;
// Searches take no lock. A search that finds slots and snapshot out of step starts over; the last
// attempt takes a path that cannot fail.
constexpr int kAttempts = 4;

struct Candidate {
  float distance;
  float error;
  std::uint32_t id;
  std::uint32_t slot;
  const Posting* posting;  // nothing: pending, and the distance exact

  friend bool operator<(const Candidate& a, const Candidate& b) {
    return a.distance != b.distance ? a.distance < b.distance : a.id < b.id;
  }
};

// The nearest candidates so far.
class Pool {
 public:
  explicit Pool(std::size_t most) : most_(most) {
    heap_.reserve(std::min<std::size_t>(most, 4096));
  }

  float limit() const { return limit_; }
  std::size_t size() const { return heap_.size(); }
  void add(const Candidate& candidate) {
    if (heap_.size() == most_) {
      if (!(candidate < heap_.front())) return;
      std::pop_heap(heap_.begin(), heap_.end());
      heap_.pop_back();
    }
    heap_.push_back(candidate);
    std::push_heap(heap_.begin(), heap_.end());
    if (heap_.size() == most_) limit_ = heap_.front().distance;
  }
  std::vector<Candidate> take() { return std::move(heap_); }

 private:
  std::size_t most_;
  float limit_ = kInfinity;
  std::vector<Candidate> heap_;
};

class Searcher {
 public:
  Searcher(const VectorCore& core, const VectorSearch& how, QueryCode query)
      : core_(core), how_(how), query_(std::move(query)) {
    const bool resident = core.options.space.storage != RawStorage::kElsewhere;
    rerank_ = how.rerank == VectorSearch::Rerank::kAlways ||
              (how.rerank == VectorSearch::Rerank::kWhereResident && resident);
    products_ = core.options.space.distance == Distance::kDot;
  }

  Result<std::vector<VectorHit>> run() {
    for (int attempt = 0;; ++attempt) {
      const auto snapshot = core_.snapshot();
      // Estimates order nearly right: with twice as many, comparing vectors finds the best k.
      Pool pool(how_.k + (rerank_ ? how_.k + 16 : 0));
      KIN_TRY(const bool complete, collect(*snapshot, pool, attempt));
      if (!complete) continue;
      scan_pending(*snapshot, pool);
      std::vector<Candidate> found = pool.take();
      const std::size_t before = found.size();
      drop_replaced(found);
      // A replaced vector may have pushed another one out of the best k.
      const bool short_of = found.size() < before && found.size() < how_.k;
      if (short_of && attempt + 1 < kAttempts) continue;
      KIN_RETURN_IF_ERROR(settle(found));
      return hits(found);
    }
  }

 private:
  // False if the snapshot and the slots disagree because of a change: try again.
  Result<bool> collect(const Snapshot& snapshot, Pool& pool, int attempt) {
    if (snapshot.postings.empty()) return true;
    if (how_.exact) return scan_exactly(snapshot, pool);
    if (how_.filter != nullptr && how_.filter->size() <= kFewIds && attempt + 1 < kAttempts)
      return scan_few(snapshot, pool);
    scan_nearest(snapshot, pool);
    return true;
  }

  bool in_time(std::uint32_t id) const {
    return id < how_.below && !std::ranges::binary_search(how_.without, id);
  }
  bool passes(std::uint32_t id) const {
    return (how_.filter == nullptr || how_.filter->contains(id)) && in_time(id);
  }

  float exact(std::span<const float> vector) const {
    return products_ ? -dot(query_.rotated.data(), vector.data(), vector.size())
                     : squared_l2(query_.rotated.data(), vector.data(), vector.size());
  }

  CellView view_of(const Centres& centres, std::size_t cell, float product) const {
    const float square = std::max(0.0F, query_.square + centres.square(cell) - 2 * product);
    return {products_ ? -product : square, std::sqrt(square)};
  }

  Result<bool> scan_exactly(const Snapshot& snapshot, Pool& pool) {
    std::vector<float> vector;
    for (const auto& posting : snapshot.postings) {
      for (std::uint32_t slot = 0; slot < posting->size(); ++slot) {
        const std::uint32_t id = posting->ids()[slot];
        if (posting->is_dead(slot) || !passes(id)) continue;
        KIN_TRY(const bool found, core_.read(*posting, slot, vector, how_.raw));
        if (found) pool.add({exact(vector), 0, id, slot, posting.get()});
      }
    }
    return true;
  }

  Result<bool> scan_few(const Snapshot& snapshot, Pool& pool) {
    std::vector<float> vector;
    float products[kBlock];
    for (const std::uint32_t id : how_.filter->ids()) {
      const CellSlot at = core_.slots.get(id);
      if (!at.is_indexed() || !in_time(id)) continue;
      if (at.cell() >= snapshot.postings.size()) return false;
      const Posting& posting = *snapshot.postings[at.cell()];
      const std::uint32_t slot = at.slot();
      // The slot belongs to a newer snapshot than this one.
      if (slot >= posting.size() || posting.ids()[slot] != id) return false;
      if (posting.is_dead(slot)) continue;
      if (rerank_ && core_.options.space.storage != RawStorage::kElsewhere) {
        KIN_TRY(const bool found, core_.read(posting, slot, vector, how_.raw));
        if (found) pool.add({exact(vector), 0, id, slot, &posting});
        continue;
      }
      const auto centre = snapshot.centres->matrix().row(at.cell());
      const float product = dot(query_.rotated.data(), centre.data(), centre.size());
      const CellView view = view_of(*snapshot.centres, at.cell(), product);
      posting.scan(slot / kBlock, query_, view, kInfinity, products);
      const Estimate estimate = posting.estimate(slot, query_, view, products[slot % kBlock]);
      pool.add({estimate.distance, estimate.error, id, slot, &posting});
    }
    return true;
  }

  // The value of a curve at the target recall.
  float aimed(const std::vector<float>& curve) const {
    const double at = std::clamp(how_.recall, 0.0, 1.0) * (kCurvePoints - 1);
    const auto low = static_cast<std::size_t>(at);
    // Between two percents the curve is taken for straight.
    const auto part = static_cast<float>(at - static_cast<double>(low));
    return (1 - part) * curve[low] + part * curve[std::min(low + 1, kCurvePoints - 1)];
  }

  std::size_t probes(const Snapshot& snapshot) const {
    const auto all = static_cast<double>(snapshot.postings.size());
    if (how_.probes) return std::min(*how_.probes, static_cast<std::uint32_t>(all));
    if (snapshot.curve.share.empty()) return snapshot.postings.size();
    // The curve was measured for ten neighbours; more of them lie further away.
    const double more = std::pow(std::max(1.0, how_.k / 10.0), 0.3);
    return static_cast<std::size_t>(
        std::min(all, std::ceil(aimed(snapshot.curve.share) * all * more)));
  }

  void scan_nearest(const Snapshot& snapshot, Pool& pool) {
    const Centres& centres = *snapshot.centres;
    std::vector<float> products(centres.size());
    centres.products(query_.rotated.data(), products);
    std::vector<std::pair<float, std::uint32_t>> order(centres.size());
    for (std::uint32_t p = 0; p < order.size(); ++p)
      order[p] = {products_ ? -products[p] : centres.square(p) - 2 * products[p], p};
    const std::size_t enough = probes(snapshot);
    const bool filtered = how_.filter != nullptr && !snapshot.curve.reach.empty();
    const float reach = filtered ? aimed(snapshot.curve.reach) : 0;
    std::size_t ordered = 0;
    std::size_t misses = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (i >= enough && (how_.filter == nullptr || misses == kMostMisses)) break;
      if (i == ordered) ordered = order_more(order, ordered, enough);
      const std::uint32_t p = order[i].second;
      const Posting& posting = *snapshot.postings[p];
      const CellView view = view_of(centres, p, products[p]);
      // The nearest ids that pass a filter are further away, so more cells may hold one.
      if (i >= enough && filtered && pool.limit() < kInfinity &&
          reach_needed(view, posting.spread(), pool.limit(), std::sqrt(query_.square), products_) >
              reach) {
        ++misses;
        continue;
      }
      misses = 0;
      // Prefetches the posting after the next, and the codes of the next, while this one is
      // scanned.
      if (i + 2 < ordered) __builtin_prefetch(snapshot.postings[order[i + 2].second].get());
      if (i + 1 < ordered) snapshot.postings[order[i + 1].second]->prefetch_blocks();
      scan_posting(posting, view, pool);
    }
    look_closer(before_, pool);
  }

  static std::size_t order_more(std::vector<std::pair<float, std::uint32_t>>& order,
                                std::size_t from, std::size_t probes) {
    const std::size_t to = std::min(order.size(), std::max(probes, from + kOrdered));
    const auto begin = order.begin() + static_cast<std::ptrdiff_t>(from);
    const auto end = order.begin() + static_cast<std::ptrdiff_t>(to);
    // Only the next batch is sorted; all others only follow it.
    if (end != order.end()) std::nth_element(begin, end, order.end());
    std::sort(begin, end);
    return to;
  }

  std::uint32_t passing(const Posting& posting, std::size_t block) const {
    const auto ids = posting.ids().subspan(block * kBlock);
    std::uint32_t mask = 0;
    for (std::size_t i = 0; i < std::min(ids.size(), kBlock); ++i)
      mask |= static_cast<std::uint32_t>(how_.filter->contains(ids[i])) << i;
    return mask;
  }

  // A vector that passed the scan of its signs and needs an estimate by all bits.
  struct Left {
    const Posting* posting;
    CellView view;
    std::uint32_t slot;
    float product;
  };

  // Vectors of one posting are estimated after the next posting was scanned: by then their codes
  // are in the cache. Until the pool is full they are estimated at once, because without a limit
  // every vector passes the scan.
  void scan_posting(const Posting& posting, const CellView& view, Pool& pool) {
    float products[kBlock];
    now_.clear();
    for (std::size_t block = 0; block < posting.blocks(); ++block) {
      std::uint32_t mask = how_.filter == nullptr ? ~0U : passing(posting, block);
      if (mask != 0) mask &= posting.scan(block, query_, view, pool.limit(), products);
      for (; mask != 0; mask &= mask - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(mask));
        const auto slot = static_cast<std::uint32_t>(block * kBlock) + lane;
        posting.prefetch(slot);
        now_.push_back({&posting, view, slot, products[lane]});
      }
      if (first_) look_closer(now_, pool);
    }
    first_ = first_ && pool.limit() == kInfinity;
    look_closer(before_, pool);
    now_.swap(before_);
  }

  void look_closer(std::vector<Left>& left, Pool& pool) const {
    for (const Left& one : left) {
      const Estimate estimate = one.posting->estimate(one.slot, query_, one.view, one.product);
      if (estimate.distance > pool.limit()) continue;  // the limit may have sunk since the scan
      const std::uint32_t id = one.posting->ids()[one.slot];
      if (in_time(id)) pool.add({estimate.distance, estimate.error, id, one.slot, one.posting});
    }
    left.clear();
  }

  // Runs after the cells: a replaced vector is marked as deleted in its cell only when the new one
  // is in the log, so this order misses neither of them.
  void scan_pending(const Snapshot& snapshot, Pool& pool) const {
    snapshot.pending.each([&](const PendingChunk& chunk, std::uint32_t row) {
      const std::uint32_t id = chunk.id(row);
      if (chunk.is_dead(row) || !passes(id)) return;
      pool.add({exact(chunk.row(row)), 0, id, row, nullptr});
    });
  }

  // A vector that was replaced during the search may have been found twice: keep the pending one,
  // which is newer.
  static void drop_replaced(std::vector<Candidate>& found) {
    std::ranges::sort(found, [](const Candidate& a, const Candidate& b) {
      return a.id != b.id ? a.id<b.id : (a.posting == nullptr)>(b.posting == nullptr);
    });
    const auto same = [](const Candidate& a, const Candidate& b) { return a.id == b.id; };
    found.erase(std::unique(found.begin(), found.end(), same), found.end());
    std::sort(found.begin(), found.end());
  }

  // Replaces estimates by exact distances where the error bounds do not decide the best k.
  Status settle(std::vector<Candidate>& found) const {
    if (!rerank_) return Done{};
    std::vector<float> upper;
    for (const Candidate& candidate : found) upper.push_back(candidate.distance + candidate.error);
    // At least k vectors are as near as the k-th upper bound.
    float limit = kInfinity;
    if (upper.size() > how_.k) {
      const auto kth = upper.begin() + static_cast<std::ptrdiff_t>(how_.k) - 1;
      std::nth_element(upper.begin(), kth, upper.end());
      limit = *kth;
    }
    std::vector<float> vector;
    for (Candidate& candidate : found) {
      // Exact already, or too far away even if the estimate is off by its whole error bound.
      if (candidate.error == 0 || candidate.distance - candidate.error > limit) continue;
      KIN_TRY(const bool read, core_.read(*candidate.posting, candidate.slot, vector, how_.raw));
      if (read) candidate.distance = exact(vector);
    }
    std::sort(found.begin(), found.end());
    return Done{};
  }

  std::vector<VectorHit> hits(const std::vector<Candidate>& found) const {
    // Vectors have length 1, so 1 - cosine is half of the squared distance.
    const float scale = core_.options.space.distance == Distance::kCosine ? 0.5F : 1.0F;
    std::vector<VectorHit> result;
    for (std::size_t i = 0; i < std::min<std::size_t>(found.size(), how_.k); ++i)
      result.push_back({found[i].id, found[i].distance * scale});
    return result;
  }

  const VectorCore& core_;
  const VectorSearch& how_;
  QueryCode query_;
  std::vector<Left> now_;
  std::vector<Left> before_;
  bool first_ = true;  // no posting has filled the pool yet
  bool rerank_ = false;
  bool products_ = false;
};

}  // namespace

Result<std::vector<VectorHit>> search(const VectorCore& core, std::span<const float> query,
                                      const VectorSearch& how) {
  if (how.k == 0) return std::vector<VectorHit>{};
  if (how.rerank == VectorSearch::Rerank::kAlways && core.options.raw == nullptr &&
      how.raw == nullptr && core.options.space.storage == RawStorage::kElsewhere)
    return Error{Code::kFailedPrecondition, "the index has no access to its vectors"};
  KIN_TRY(std::vector<float> rotated, core.rotated(query));
  return Searcher(core, how, QueryCode(core.options.space, std::move(rotated))).run();
}

}  // namespace kin::index::internal
