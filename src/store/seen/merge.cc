#include "store/seen/merge.h"

#include <algorithm>
#include <numeric>

namespace kin::store {
namespace {

// 128 KiB a read: long enough for the device, short enough for a few dozen runs in memory.
constexpr std::uint64_t kPagesAtOnce = 128;
// A run is merged with all smaller ones if it has at most twice their ids.
constexpr std::uint64_t kRatio = 2;

bool below(const SeenId& a, const SeenId& b) {
  __extension__ using Wide = unsigned __int128;
  return ((Wide{a.high} << 64) | a.low) < ((Wide{b.high} << 64) | b.low);
}

// std::merge has to predict at every id which side comes next, and is wrong half of the time.
void merge_without_branches(std::span<const SeenId> a, std::span<const SeenId> b,
                            std::vector<SeenId>& out) {
  out.resize(a.size() + b.size());
  const SeenId* left = a.data();
  const SeenId* right = b.data();
  const SeenId* const left_end = left + a.size();
  const SeenId* const right_end = right + b.size();
  SeenId* to = out.data();
  while (left != left_end && right != right_end) {
    const bool take_right = below(*right, *left);
    const SeenId* from = take_right ? right : left;
    *to++ = *from;
    right += take_right;
    left += !take_right;
  }
  to = std::copy(left, left_end, to);
  std::copy(right, right_end, to);
}

// Positions, those of fewer ids first.
std::vector<std::size_t> ascending(std::span<const std::uint64_t> ids) {
  std::vector<std::size_t> order(ids.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t run) { return std::pair(ids[run], run); });
  return order;
}

}  // namespace

RunCursor::RunCursor(std::span<const std::shared_ptr<const Piece>> pieces, SeenId from)
    : pieces_(pieces.begin(), pieces.end()), from_(from) {
  // Pieces below `from` have moved to the output and may be gone.
  while (piece_ < pieces_.size() && pieces_[piece_]->info().last < from) ++piece_;
  if (piece_ < pieces_.size()) page_ = pieces_[piece_]->page_before(from);
}

Status RunCursor::fill() {
  while (at_ == ids_.size() && piece_ < pieces_.size()) {
    ids_.clear();
    at_ = 0;
    const Piece& piece = *pieces_[piece_];
    KIN_RETURN_IF_ERROR(piece.read_ids(page_, kPagesAtOnce, ids_));
    page_ += kPagesAtOnce;
    if (page_ >= piece.info().pages) {
      ++piece_;
      page_ = 0;
    }
    // The first page may begin below `from`.
    if (!ids_.empty() && ids_.front() < from_) {
      at_ = static_cast<std::size_t>(std::lower_bound(ids_.begin(), ids_.end(), from_) -
                                     ids_.begin());
    }
  }
  return Done{};
}

Result<std::span<const SeenId>> RunMerger::next() {
  // Up to the smallest last id in memory: ids that runs still have on disk come after it.
  const SeenId* bound = nullptr;
  for (RunCursor& run : runs_) {
    KIN_RETURN_IF_ERROR(run.fill());
    if (run.rest().empty()) continue;
    const SeenId& last = run.rest().back();
    if (bound == nullptr || last < *bound) bound = &last;
  }
  merged_.clear();
  if (bound == nullptr) return std::span<const SeenId>();
  const SeenId limit = *bound;
  // Each run is merged into the result of the runs before it.
  for (RunCursor& run : runs_) {
    const auto rest = run.rest();
    const auto end = std::upper_bound(rest.begin(), rest.end(), limit);
    const auto part = rest.first(static_cast<std::size_t>(end - rest.begin()));
    merge_without_branches(merged_, part, spare_);
    std::swap(merged_, spare_);
    run.skip(part.size());
  }
  return std::span<const SeenId>(merged_);
}

std::vector<std::size_t> runs_to_merge(std::span<const std::uint64_t> ids) {
  std::vector<std::size_t> order = ascending(ids);
  std::size_t count = 0;
  std::uint64_t smaller = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    // The largest such run is merged with all smaller ones.
    if (i > 0 && ids[order[i]] <= kRatio * smaller) count = i + 1;
    smaller += ids[order[i]];
  }
  order.resize(count);
  return order;
}

std::vector<std::size_t> runs_to_tidy(std::span<const std::uint64_t> ids, std::size_t left) {
  if (ids.size() <= left) return {};
  std::vector<std::size_t> order = ascending(ids);
  // These become one run, which is one of the `left`.
  order.resize(ids.size() - left + 1);
  return order;
}

}  // namespace kin::store
