// Cursors over one run, and over several runs merged.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "store/seen/id.h"
#include "store/seen/piece.h"

namespace kin::store {

// The ids of a run from `from` on, in order, a batch of pages at a time. One thread only.
class RunCursor {
 public:
  RunCursor(std::span<const std::shared_ptr<const Piece>> pieces, SeenId from);

  // Reads more if rest() is empty and the run is not at its end.
  Status fill();
  std::span<const SeenId> rest() const { return std::span(ids_).subspan(at_); }
  void skip(std::size_t count) { at_ += count; }
  // Whether rest() is the end of the run.
  bool at_end() const { return piece_ == pieces_.size(); }

 private:
  std::vector<std::shared_ptr<const Piece>> pieces_;
  std::size_t piece_ = 0;
  std::uint64_t page_ = 0;
  SeenId from_;
  std::vector<SeenId> ids_;
  std::size_t at_ = 0;
};

// The ids of several runs as one ascending sequence. One thread only.
class RunMerger {
 public:
  explicit RunMerger(std::vector<RunCursor> runs) : runs_(std::move(runs)) {}

  // The next ids, ascending; empty at the end. Valid until the next call.
  Result<std::span<const SeenId>> next();

 private:
  std::vector<RunCursor> runs_;
  std::vector<SeenId> merged_;
  std::vector<SeenId> spare_;
};

// Chooses the runs to merge, given the ids in each: the positions of runs that should become one,
// or none. Keeps sizes at least a factor of three apart, so that a look-up asks few filters and an
// id is written a few times over the life of a set.
std::vector<std::size_t> runs_to_merge(std::span<const std::uint64_t> ids);

// The same for an idle set: the smallest runs, so that `left` runs remain.
std::vector<std::size_t> runs_to_tidy(std::span<const std::uint64_t> ids, std::size_t left);

}  // namespace kin::store
