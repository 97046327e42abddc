#include "store/seen/runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "base/check.h"
#include "store/seen/merge.h"

namespace kin::store {
namespace fs = std::filesystem;
namespace {

// An absent id that passes a filter costs a read, which is as expensive as ten filter probes. So
// filters get more bits where that costs little: in small runs, and in a set that is not large yet.
// kFilterBits is left per id in a large set, beside a page index of 0.2 bits per id.
constexpr double kFilterBits = 8.85;
constexpr double kExtraBits = 16.0 * 8 * 1024 * 1024;  // 16 MiB, over all ids
constexpr double kMostBits = 16;

double filter_bits(std::uint64_t run_ids, bool small) {
  if (small) return kMostBits;
  return std::min(kMostBits, kFilterBits + kExtraBits / static_cast<double>(run_ids));
}

// The most ids of a piece: such that its filter fills large pages of memory, if it is larger than
// one.
std::uint64_t piece_ids(std::uint64_t most, double bits) {
  constexpr double kLargePageBits = 2.0 * 8 * 1024 * 1024;
  // A filter slightly larger than a large page would have its end on small pages.
  const auto a_page = static_cast<std::uint64_t>(kLargePageBits / bits);
  return most < a_page ? most : most / a_page * a_page;
}

std::vector<const RunInfo*> inputs_of(const SeenManifest& manifest, std::uint64_t output) {
  std::vector<const RunInfo*> inputs;
  for (const RunInfo& run : manifest.runs) {
    if (run.into == output) inputs.push_back(&run);
  }
  return inputs;
}

std::vector<const RunInfo*> smallest_first(const SeenManifest& manifest) {
  std::vector<const RunInfo*> runs;
  for (const RunInfo& run : manifest.runs) runs.push_back(&run);
  std::ranges::sort(runs, {}, [](const RunInfo* run) { return std::pair(run->ids, run->number); });
  return runs;
}

// The memory that the filter of a file takes when it is resident.
std::uint64_t filter_bytes(const FilterFile& file) {
  return file.blocks() * sizeof(BlockFilter::Block);
}

// Ids that have not moved into `output` yet.
std::uint64_t remaining_ids(const SeenManifest& manifest, const RunInfo& output) {
  std::uint64_t ids = 0;
  for (const RunInfo* input : inputs_of(manifest, output.number)) ids += input->ids;
  return ids - output.ids;
}

// The runs that the rule would merge now, by index.
std::vector<std::size_t> due_runs(const SeenManifest& manifest, MergeRule rule) {
  std::vector<std::size_t> at;
  std::vector<std::uint64_t> ids;
  for (std::size_t i = 0; i < manifest.runs.size(); ++i) {
    const RunInfo& run = manifest.runs[i];
    // Runs of a merge in progress are taken.
    if (run.growing || run.into != 0) continue;
    at.push_back(i);
    ids.push_back(run.ids);
  }
  std::vector<std::size_t> due = runs_to_merge(ids);
  if (due.empty() && rule != MergeRule::kKeepFew)
    due = runs_to_tidy(ids, rule == MergeRule::kTidy ? 2 : 1);
  for (std::size_t& position : due) position = at[position];
  return due;
}

SeenId after(SeenId id) {
  // The successor in the order of ids, with a carry.
  return id.low == ~std::uint64_t{0} ? SeenId{id.high + 1, 0} : SeenId{id.high, id.low + 1};
}

void append_piece(RunInfo& run, const PieceInfo& piece) {
  run.pieces.push_back(piece);
  run.ids += piece.ids;
  run.digest += piece.digest;
}

void set_log(SeenManifest& manifest, const LogPosition& log) {
  manifest.first_log = log.first;
  manifest.durable_log = log.durable;
  manifest.durable_bytes = log.bytes;
}

// Moves everything up to the end of the output's last piece out of its inputs.
void advance_inputs(SeenManifest& manifest, const RunInfo& output) {
  const SeenId from = after(output.pieces.back().last);
  for (RunInfo& run : manifest.runs) {
    if (run.into != output.number) continue;
    run.from = from;
    // A piece is removed when all of its ids have moved; a partly moved one stays, and `from` hides
    // its front.
    std::erase_if(run.pieces, [&](const PieceInfo& piece) { return piece.last < from; });
  }
}

Status finish_merge(SeenManifest& manifest, std::uint64_t output_number) {
  std::uint64_t ids = 0;
  std::uint64_t digest = 0;
  for (const RunInfo* input : inputs_of(manifest, output_number)) {
    ids += input->ids;
    digest += input->digest;
  }
  std::erase_if(manifest.runs, [&](const RunInfo& run) { return run.into == output_number; });
  const auto output = std::ranges::find(manifest.runs, output_number, &RunInfo::number);
  // The inputs' files are removed next, so this is the last chance to detect a fault.
  if (output->ids != ids || output->digest != digest) {
    return Error{Code::kDataLoss, "a merge did not end with the ids it began with"};
  }
  output->growing = false;
  return Done{};
}

}  // namespace

Result<std::unique_ptr<SeenRuns>> SeenRuns::open(const SeenPlacement& placement,
                                                 const SeenRunsOptions& options,
                                                 SeenManifest manifest) {
  std::unique_ptr<SeenRuns> runs(new SeenRuns(placement, options, std::move(manifest)));
  for (const RunInfo& run : runs->manifest_.runs) {
    for (const PieceInfo& info : run.pieces) {
      KIN_TRY(PieceView view, runs->open_piece(info));
      runs->pieces_.emplace(info.number, std::move(view));
    }
  }
  KIN_RETURN_IF_ERROR(runs->choose_residents());
  runs->rebuild_views();
  return runs;
}

Result<PieceView> SeenRuns::open_piece(const PieceInfo& info) {
  PieceView view;
  KIN_TRY(view.piece, Piece::open(placement_, info));
  auto filter = view.piece->open_filter();
  if (filter) {
    view.filter_file = std::make_shared<const FilterFile>(std::move(*filter));
    // A filter is derived from the ids: a writer rebuilds it, a reader works without.
  } else if (!options_.read_only) {
    KIN_RETURN_IF_ERROR(make_filter_again(view));
  }
  return view;
}

Status SeenRuns::make_filter_again(PieceView& view) {
  const PieceInfo& info = view.piece->info();
  KIN_TRY(const auto filter, view.piece->rebuild_filter(kFilterBits));
  const fs::path path = filter_path(placement_.folder, info.number);
  KIN_RETURN_IF_ERROR(write_filter(*placement_.disk, path, identity_of(info), *filter));
  // Opened like an existing one, which checks what was written.
  KIN_TRY(FilterFile file, view.piece->open_filter());
  view.filter_file = std::make_shared<const FilterFile>(std::move(file));
  view.filter = filter;
  ++counts_.rebuilt_filters;
  return Done{};
}

Status SeenRuns::choose_residents() {
  // Page indexes are always resident.
  std::uint64_t used = bytes().indexes;
  for (const RunInfo* run : smallest_first(manifest_)) {
    for (const PieceInfo& info : run->pieces) {
      PieceView& view = pieces_.at(info.number);
      if (view.filter_file == nullptr) continue;
      const std::uint64_t size = filter_bytes(*view.filter_file);
      // Every absent id asks a filter of each run. Small filters save as many reads for less
      // memory.
      if (used + size > options_.filter_memory) {
        view.filter.reset();
        continue;
      }
      used += size;
      // Loaded already, or just made.
      if (view.filter != nullptr) continue;
      auto filter = view.filter_file->load();
      if (filter) {
        view.filter = *filter;
      } else if (options_.read_only) {
        view.filter_file.reset();
      } else {
        KIN_RETURN_IF_ERROR(make_filter_again(view));
      }
    }
  }
  return Done{};
}

void SeenRuns::rebuild_views() {
  views_.clear();
  // The largest first: it most likely holds a repeated id, and the search then ends.
  for (const RunInfo* run : std::views::reverse(smallest_first(manifest_))) {
    if (run->pieces.empty()) continue;
    RunView view{.from = run->from};
    for (const PieceInfo& info : run->pieces) {
      view.starts.push_back(info.first);
      view.pieces.push_back(pieces_.at(info.number));
      PieceView& piece = view.pieces.back();
      if (piece.filter != nullptr) piece.blocks = piece.filter->blocks();
    }
    views_.push_back(std::move(view));
  }
}

Status SeenRuns::install(SeenManifest next, PieceWriter::Finished fresh, const LogPosition& log) {
  set_log(next, log);
  // New files must have durable names before the manifest names them.
  KIN_RETURN_IF_ERROR(placement_.disk->sync_folder(placement_.folder));
  const fs::path path = placement_.folder / kManifestName;
  KIN_RETURN_IF_ERROR(replace_whole(*placement_.disk, path, encode(next)));
  manifest_ = std::move(next);
  // Opened through its file, so that an unreadable piece is noticed now.
  KIN_TRY(PieceView view, open_piece(fresh.info));
  view.filter = std::move(fresh.filter);
  pieces_.emplace(fresh.info.number, std::move(view));
  std::erase_if(pieces_, [live = piece_numbers(manifest_), this](const auto& entry) {
    if (live.contains(entry.first)) return false;
    // A file that stays behind is removed when the set is opened next.
    (void)placement_.disk->remove(piece_path(placement_.folder, entry.first));
    (void)placement_.disk->remove(filter_path(placement_.folder, entry.first));
    return true;
  });
  KIN_RETURN_IF_ERROR(choose_residents());
  rebuild_views();
  return Done{};
}

Status SeenRuns::note_log(const LogPosition& log) {
  SeenManifest next = manifest_;
  set_log(next, log);
  // Closing an unchanged set writes nothing.
  if (next == manifest_) return Done{};
  const fs::path path = placement_.folder / kManifestName;
  KIN_RETURN_IF_ERROR(replace_whole(*placement_.disk, path, encode(next)));
  manifest_ = std::move(next);
  return Done{};
}

Status SeenRuns::add_run(std::span<const SeenId> ids, const LogPosition& log) {
  SeenManifest next = manifest_;
  RunInfo run{.number = next.next_number++};
  const std::uint64_t number = next.next_number++;
  KIN_TRY(const auto writer,
          PieceWriter::create(
              placement_,
              {.number = number, .ids = ids.size(), .filter_bits = filter_bits(ids.size(), true)}));
  KIN_RETURN_IF_ERROR(writer->add(ids));
  KIN_TRY(PieceWriter::Finished fresh, writer->finish());
  append_piece(run, fresh.info);
  next.runs.push_back(std::move(run));
  KIN_RETURN_IF_ERROR(install(std::move(next), std::move(fresh), log));
  ++counts_.flushes;
  return Done{};
}

bool SeenRuns::merge_due(MergeRule rule) const {
  return std::ranges::any_of(manifest_.runs, &RunInfo::growing) ||
         !due_runs(manifest_, rule).empty();
}

// The output of the merge with the least work: a small one does not wait behind a large one, so
// small runs do not accumulate during a large merge.
RunInfo* SeenRuns::begin_or_resume_merge(SeenManifest& manifest, MergeRule rule) const {
  RunInfo* best = nullptr;
  std::uint64_t least = ~std::uint64_t{0};
  for (RunInfo& run : manifest.runs) {
    // Merges that an earlier process began count too.
    if (!run.growing || remaining_ids(manifest, run) >= least) continue;
    least = remaining_ids(manifest, run);
    best = &run;
  }
  const std::vector<std::size_t> due = due_runs(manifest, rule);
  std::uint64_t due_ids = 0;
  for (const std::size_t i : due) due_ids += manifest.runs[i].ids;
  // A due merge that is smaller than all running ones overtakes them.
  if (due.empty() || due_ids >= least) return best;
  const std::uint64_t number = manifest.next_number++;
  for (const std::size_t i : due) manifest.runs[i].into = number;
  manifest.runs.push_back({.number = number, .growing = true});
  return &manifest.runs.back();
}

Result<PieceWriter::Finished> SeenRuns::merge_piece(const SeenManifest& manifest,
                                                    const RunInfo& output,
                                                    std::uint64_t number) const {
  std::vector<RunCursor> cursors;
  for (const RunInfo* input : inputs_of(manifest, output.number)) {
    std::vector<std::shared_ptr<const Piece>> pieces;
    // Cursors are made again for each piece, which leaves no state between steps.
    for (const PieceInfo& info : input->pieces) pieces.push_back(pieces_.at(info.number).piece);
    cursors.emplace_back(pieces, input->from);
  }
  const std::uint64_t remaining = remaining_ids(manifest, output);
  const std::uint64_t total = output.ids + remaining;
  const double bits = filter_bits(total, total <= options_.small_run_ids);
  const std::uint64_t most = piece_ids(options_.piece_ids, bits);
  const std::uint64_t target = std::min(most, remaining);
  KIN_TRY(const auto writer,
          PieceWriter::create(placement_, {.number = number, .ids = target, .filter_bits = bits}));
  RunMerger merger(std::move(cursors));
  std::optional<SeenId> last;
  while (writer->ids() < target) {
    KIN_TRY(auto ids, merger.next());
    // The manifest has more ids.
    if (ids.empty()) return Error{Code::kDataLoss, "a merge ran out of ids before its end"};
    ids = ids.first(std::min<std::uint64_t>(ids.size(), target - writer->ids()));
    // The merger gives ascending ids unless two runs hold the same one.
    const bool twice = std::adjacent_find(ids.begin(), ids.end()) != ids.end();
    if (twice || (last && ids.front() <= *last)) {
      return Error{Code::kDataLoss, "an id is in two runs"};
    }
    last = ids.back();
    KIN_RETURN_IF_ERROR(writer->add(ids));
  }
  return writer->finish();
}

Status SeenRuns::merge_step(const LogPosition& log, MergeRule rule) {
  SeenManifest next = manifest_;
  RunInfo* output = begin_or_resume_merge(next, rule);
  KIN_CHECK(output != nullptr, "a merge is due");
  const std::uint64_t number = next.next_number++;
  // One piece per step, so that the next full table does not wait for a large merge.
  auto fresh = merge_piece(next, *output, number);
  if (!fresh) return with_context(placement_.folder.string(), fresh.error());
  append_piece(*output, fresh->info);
  const bool finished = remaining_ids(next, *output) == 0;
  advance_inputs(next, *output);
  if (finished) {
    auto status = finish_merge(next, output->number);
    if (!status) return with_context(placement_.folder.string(), status.error());
  }
  const std::uint64_t moved = fresh->info.ids;
  KIN_RETURN_IF_ERROR(install(std::move(next), std::move(*fresh), log));
  counts_.merged_ids += moved;
  counts_.merges += finished ? 1 : 0;
  return Done{};
}

SeenRunsBytes SeenRuns::bytes() const {
  SeenRunsBytes bytes;
  for (const auto& [number, view] : pieces_) {
    bytes.indexes += view.piece->index_bytes();
    bytes.run_files += view.piece->file_bytes();
    if (view.filter) bytes.resident_filters += view.filter->bytes();
    if (!view.filter_file) continue;
    bytes.filters += filter_bytes(*view.filter_file);
    bytes.filter_files += view.filter_file->file_bytes();
  }
  return bytes;
}

Status SeenRuns::verify() const {
  for (const RunInfo& run : manifest_.runs) {
    const PieceInfo* before = nullptr;
    std::uint64_t ids = 0;
    std::uint64_t digest = 0;
    for (const PieceInfo& info : run.pieces) {
      const PieceView& view = pieces_.at(info.number);
      KIN_RETURN_IF_ERROR(view.piece->verify(view.filter_file.get()));
      // Look-ups find the piece by its first id, which needs pieces in order and apart.
      if (before != nullptr && info.first <= before->last) {
        return Error{Code::kDataLoss,
                     fmt::format("{}: files {} and {} overlap", placement_.folder.string(),
                                 before->number, info.number)};
      }
      before = &info;
      ids += info.ids;
      digest += info.digest;
    }
    // A run whose ids are moving has lost its first files.
    if (run.into == 0 && (ids != run.ids || digest != run.digest)) {
      return Error{Code::kDataLoss,
                   fmt::format("{}: run {} lacks files", placement_.folder.string(), run.number)};
    }
  }
  return Done{};
}

}  // namespace kin::store
