#include "dedup/output/shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/locked_folder.h"
#include "base/workers.h"

namespace kin::dedup {
namespace fs = std::filesystem;
namespace {

constexpr const char* kStaged = ".kindred-staged";

fs::path resolved(const fs::path& path) {
  std::error_code failure;
  fs::path real = fs::weakly_canonical(path, failure);
  if (failure) real = path.lexically_normal();
  return real.has_filename() ? real : real.parent_path();
}

bool lies_in(const fs::path& path, const fs::path& folder) {
  const fs::path relative = resolved(path).lexically_relative(resolved(folder));
  return !relative.empty() && *relative.begin() != "..";
}

Status check_one(const data::Input& input, const fs::path& folder, const fs::path& target) {
  if (!input.named_folder.empty() && lies_in(folder, input.named_folder)) {
    return Error{Code::kInvalidArgument,
                 fmt::format("the output folder {} lies in {}, which is an input: the next run "
                             "would read its own outputs (choose a folder outside)",
                             folder.string(), input.named_folder.string())};
  }
  std::error_code ignored;  // a path that does not exist is not a folder
  if (data::same_file(input, target)) {
    return Error{Code::kInvalidArgument,
                 fmt::format("{} is an input and an output (inputs are never changed: choose "
                             "another folder)",
                             target.string())};
  }
  if (fs::is_directory(target, ignored)) {
    return Error{Code::kInvalidArgument,
                 fmt::format("cannot write {}: it is a folder (move it away)", target.string())};
  }
  return Done{};
}

Status check_targets(const fs::path& folder, std::span<const data::Input> inputs) {
  std::map<fs::path, const data::Input*> targets;
  for (const data::Input& input : inputs) {
    const auto [other, is_new] = targets.emplace(input.relative, &input);
    if (!is_new) {
      return Error{
          Code::kInvalidArgument,
          fmt::format("{} and {} would both be written to {} (name a folder above them, "
                      "so that their places stay apart)",
                      other->second->shown_as, input.shown_as, (folder / input.relative).string())};
    }
    KIN_RETURN_IF_ERROR(check_one(input, folder, folder / input.relative));
  }
  return Done{};
}

// The part of a scan's knowledge about one file, whose rows then count from 0.
data::ScanMemory memory_of(const data::ScanMemory& all, std::uint64_t first, std::uint64_t rows) {
  data::ScanMemory own{{0}, rows, {}};
  const auto begin =
      std::lower_bound(all.skipped.rows.begin(), all.skipped.rows.end(), record_id(first));
  for (auto row = begin; row != all.skipped.rows.end() && row_number(*row) < first + rows; ++row)
    own.skipped.rows.push_back(record_id(row_number(*row) - first));
  own.skipped.count = own.skipped.rows.size();
  return own;
}

// Renames are made durable a folder at a time.
Status sync_folders(const std::vector<fs::path>& targets) {
  std::set<fs::path> folders;
  for (const fs::path& target : targets) folders.insert(target.parent_path());
  for (const fs::path& folder : folders) KIN_RETURN_IF_ERROR(sync_folder(folder));
  return Done{};
}

}  // namespace

Shards::Shards(fs::path folder, std::vector<fs::path> made, File lock)
    : folder_(std::move(folder)), made_(std::move(made)), lock_(std::move(lock)) {}

Shards::Shards(Shards&& other) noexcept
    : folder_(std::exchange(other.folder_, {})),
      made_(std::move(other.made_)),
      targets_(std::move(other.targets_)),
      lock_(std::move(other.lock_)) {}

Shards::~Shards() {
  if (folder_.empty()) return;
  std::error_code ignored;  // hidden leftovers are harmless, and the next run removes them
  fs::remove_all(folder_ / kStaged, ignored);
  remove_made_folders(made_);
}

fs::path Shards::staged(std::size_t file) const {
  // Contains the name, because writers choose the format by it.
  return folder_ / kStaged / fmt::format("{}-{}", file, targets_[file].filename().string());
}

Result<Shards> Shards::open(const fs::path& folder, std::span<const data::Input> inputs) {
  KIN_RETURN_IF_ERROR(check_targets(folder, inputs));
  const fs::path staged = folder / kStaged;
  KIN_TRY(std::vector<fs::path> made, make_missing_folders(staged));
  // The first one is the hidden folder, which is removed in any case.
  if (!made.empty()) made.erase(made.begin());
  KIN_TRY(File lock, File::open_to_update(staged / "lock"));
  if (const Status locked = lock.lock(); !locked.ok()) {
    return Error{locked.error().code,
                 fmt::format("another run is writing to {} (wait for it, or choose another output)",
                             folder.string())};
  }
  Shards shards(folder, std::move(made), std::move(lock));
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(staged, failure)) {
    if (entry.path().filename() != "lock") fs::remove_all(entry.path(), failure);
  }
  for (const data::Input& input : inputs) shards.targets_.push_back(folder / input.relative);
  return shards;
}

Result<data::WriteReport> Shards::write_one(const data::Dataset& dataset, const RecordSet& keep,
                                            std::size_t file, const data::WriteOptions& how,
                                            const data::DatasetOptions& options) const {
  const std::vector<std::uint64_t> first_rows = dataset.first_rows();
  const std::uint64_t first = first_rows[file];
  const std::uint64_t end = file + 1 < first_rows.size() ? first_rows[file + 1] : keep.size();
  KIN_TRY(const auto one, data::Dataset::open({dataset.inputs()[file]}, options));
  one->restore(memory_of(dataset.memory(), first, end - first));
  data::WriteOptions own = how;
  std::optional<data::ShiftedEdits> edits;
  if (how.edits != nullptr) own.edits = &edits.emplace(*how.edits, first);
  KIN_TRY(auto written,
          one->write_staged(data::slice(keep, first, end - first), staged(file), own));
  KIN_RETURN_IF_ERROR(written.first.commit());
  return std::move(written.second);
}

Result<data::WriteReport> Shards::write(const data::Dataset& dataset, const RecordSet& keep,
                                        const data::WriteOptions& how,
                                        const data::DatasetOptions& options) {
  const std::size_t files = targets_.size();
  const int threads = std::max(how.threads, 1);
  // A Parquet file takes much memory, so all threads write one file at a time.
  const bool parquet = std::any_of(
      dataset.inputs().begin(), dataset.inputs().end(),
      [](const data::Input& input) { return input.type.format == data::Format::kParquet; });
  const bool beside = !parquet && files >= static_cast<std::size_t>(threads);
  const int writers = beside ? threads : 1;
  data::DatasetOptions each = options;
  each.threads = beside ? 1 : threads;
  each.memory_bytes = options.memory_bytes / static_cast<std::uint64_t>(writers);
  data::WriteOptions own = how;
  own.threads = each.threads;
  own.beside = nullptr;
  data::WriteReport report;
  std::vector<data::WriteReport> reports(files);
  KIN_RETURN_IF_ERROR(parallel_for(writers, files, [&](std::size_t file) -> Status {
    KIN_TRY(reports[file], write_one(dataset, keep, file, own, each));
    return Done{};
  }));
  if (how.beside) KIN_RETURN_IF_ERROR(run_workers(threads, [&](int) { return how.beside(); }));
  for (const data::WriteReport& one : reports) {
    report.records += one.records;
    report.bytes += one.bytes;
    for (const std::string& note : one.notes) {
      if (std::find(report.notes.begin(), report.notes.end(), note) == report.notes.end())
        report.notes.push_back(note);
    }
  }
  return report;
}

Status Shards::commit() {
  for (std::size_t file = 0; file < targets_.size(); ++file) {
    const fs::path& target = targets_[file];
    std::error_code failure;
    fs::create_directories(target.parent_path(), failure);
    if (!failure) fs::rename(staged(file), target, failure);
    if (failure) return system_error("rename to", target, failure.value());
  }
  KIN_RETURN_IF_ERROR(sync_folders(targets_));
  made_.clear();
  return Done{};
}

}  // namespace kin::dedup
