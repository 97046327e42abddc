// The runs of a seen set on disk: opened, added to, merged, and described by the manifest.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "store/seen/block_filter.h"
#include "store/seen/filter_file.h"
#include "store/seen/manifest.h"
#include "store/seen/piece.h"

namespace kin::store {

// A piece as look-ups use it. Immutable.
struct PieceView {
  std::shared_ptr<const Piece> piece;
  std::shared_ptr<const BlockFilter> filter;      // nothing: use the file
  std::shared_ptr<const FilterFile> filter_file;  // nothing: lost, so every id may be present
  // Copied from `filter`, so that a look-up follows fewer pointers.
  std::span<const BlockFilter::Block> blocks = {};

  // False only if `id` is not in the piece; for pairs, if its key is not. A filter that is missing
  // or cannot be read costs a look at the ids.
  bool may_contain(SeenId id) const {
    if (!blocks.empty())
      return BlockFilter::passes(blocks[BlockFilter::block_of(id, blocks.size())], id);
    if (filter_file == nullptr) return true;
    const auto answer = filter_file->may_contain(id);
    return !answer || *answer;
  }
};

struct RunView {
  SeenId from = {};
  std::vector<SeenId> starts = {};  // the first id of each piece
  std::vector<PieceView> pieces = {};
};

struct SeenRunsOptions {
  std::uint64_t piece_ids = 4'000'000;
  std::uint64_t small_run_ids = 3'000'000;  // runs up to this size get a more precise filter
  std::uint64_t filter_memory = std::uint64_t{1} << 30;  // for filters and page index
  bool read_only = false;
};

struct SeenRunsCounts {
  std::uint64_t flushes = 0;
  std::uint64_t merges = 0;
  std::uint64_t merged_ids = 0;
  std::uint64_t rebuilt_filters = 0;
};

struct SeenRunsBytes {
  std::uint64_t indexes = 0;           // in memory, like the next two
  std::uint64_t filters = 0;           // if all were resident
  std::uint64_t resident_filters = 0;  // that are
  std::uint64_t run_files = 0;         // on disk, like the next
  std::uint64_t filter_files = 0;
};

// The merges that are due: those that keep the number of runs small while ids arrive, those that
// leave two runs in an idle set, or those that leave one.
enum class MergeRule { kKeepFew, kTidy, kOne };

// The manifest's information about the log.
struct LogPosition {
  std::uint64_t first = 1;    // logs below have been written out
  std::uint64_t durable = 1;  // a log ...
  std::uint64_t bytes = 0;    // ... and how much of it is certainly on the device
};

// For one thread at a time; results of views() stay valid on any thread. Do not add or merge after
// an error: the manifest on the device is unknown then.
class SeenRuns {
 public:
  static Result<std::unique_ptr<SeenRuns>> open(const SeenPlacement& placement,
                                                const SeenRunsOptions& options,
                                                SeenManifest manifest);

  // Adds a run of `ids`, ascending, which were in logs before `log.first`.
  Status add_run(std::span<const SeenId> ids, const LogPosition& log);
  bool merge_due(MergeRule rule) const;
  // Advances the merge with the least work left by one piece, or begins one. merge_due() must be
  // true.
  Status merge_step(const LogPosition& log, MergeRule rule);
  // Writes the manifest with a new position of the log.
  Status note_log(const LogPosition& log);

  const SeenManifest& manifest() const { return manifest_; }
  const SeenRunsCounts& counts() const { return counts_; }
  const std::vector<RunView>& views() const { return views_; }
  SeenRunsBytes bytes() const;

  // Checks every file against the manifest.
  Status verify() const;

 private:
  SeenRuns(SeenPlacement placement, const SeenRunsOptions& options, SeenManifest manifest)
      : placement_(std::move(placement)), options_(options), manifest_(std::move(manifest)) {}

  Result<PieceView> open_piece(const PieceInfo& info);
  Status make_filter_again(PieceView& view);
  // Replaces the manifest by `next`, with the files of `fresh`, and removes files it no longer
  // names.
  Status install(SeenManifest next, PieceWriter::Finished fresh, const LogPosition& log);
  // Loads the filters that fit into memory, those of small runs first.
  Status choose_residents();
  void rebuild_views();
  RunInfo* begin_or_resume_merge(SeenManifest& manifest, MergeRule rule) const;
  Result<PieceWriter::Finished> merge_piece(const SeenManifest& manifest, const RunInfo& output,
                                            std::uint64_t number) const;

  SeenPlacement placement_;
  SeenRunsOptions options_;
  SeenManifest manifest_;
  SeenRunsCounts counts_;
  std::map<std::uint64_t, PieceView> pieces_;  // by number
  std::vector<RunView> views_;
};

}  // namespace kin::store
