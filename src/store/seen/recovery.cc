#include "store/seen/recovery.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <set>

#include "base/ascii.h"

namespace kin::store {
namespace fs = std::filesystem;
namespace {

// The number of "00000012.log", for the extension asked for.
std::optional<std::uint64_t> number_of(std::string_view name, std::string_view extension) {
  if (!name.ends_with(extension)) return std::nullopt;
  name.remove_suffix(extension.size());
  return parse_number<std::uint64_t>(name);
}

// The number of the piece whose ids or filter the file holds.
std::optional<std::uint64_t> piece_of(std::string_view name) {
  const auto ids = number_of(name, ".ids");
  return ids ? ids : number_of(name, ".filter");
}

// A name that replace_whole() writes under.
bool is_temporary(std::string_view name) {
  return name.starts_with('.') && name.find(".kindred-") != std::string_view::npos;
}

bool is_ours(std::string_view name) {
  return name == kManifestName || name == kLockName || is_temporary(name) ||
         number_of(name, ".log") || piece_of(name);
}

std::uint64_t random_seed() {
  // Without the seed nobody can choose strings that collide in the set.
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

// A set is made only in an otherwise empty folder.
Status check_ours(const fs::path& folder, Disk& disk) {
  KIN_TRY(const auto names, disk.list(folder));
  for (const std::string& name : names) {
    // Files of an older set may stay; other files belong to somebody else.
    if (is_ours(name)) continue;
    return Error{Code::kFailedPrecondition,
                 fmt::format("{} is not a seen set: it holds {} (name a new folder)",
                             folder.string(), name)};
  }
  return Done{};
}

// Numbers for a set in a folder that may still have files of an older one: higher than all of
// those.
Result<SeenManifest> blank_manifest(const fs::path& folder, const SeenOptions& options) {
  SeenManifest manifest;
  manifest.kind = options.kind.value_or(IdKind::kNumber);
  manifest.seed = options.seed ? *options.seed : random_seed();
  KIN_TRY(const auto names, options.disk->list(folder));
  for (const std::string& name : names) {
    if (const auto log = number_of(name, ".log")) {
      manifest.first_log = std::max(manifest.first_log, *log + 1);
    }
    if (const auto piece = piece_of(name)) {
      manifest.next_number = std::max(manifest.next_number, *piece + 1);
    }
  }
  manifest.durable_log = manifest.first_log;
  return manifest;
}

Result<SeenManifest> make_manifest(const fs::path& folder, const SeenOptions& options) {
  KIN_RETURN_IF_ERROR(check_ours(folder, *options.disk));
  KIN_TRY(const SeenManifest manifest, blank_manifest(folder, options));
  const SeenPlacement placement{options.disk, folder, manifest.kind};
  // The log comes first: a manifest without its log would mean lost ids.
  KIN_TRY(const auto log, SeenLogWriter::create(placement, manifest.first_log, 0));
  KIN_RETURN_IF_ERROR(replace_whole(*options.disk, folder / kManifestName, encode(manifest)));
  return manifest;
}

// A folder without a manifest holds no ids, unless the manifest was lost.
Status check_nothing_lost(const fs::path& folder, Disk& disk) {
  KIN_TRY(const bool there, disk.exists(folder));
  if (!there) return Done{};
  KIN_TRY(const auto names, disk.list(folder));
  for (const std::string& name : names) {
    bool holds_ids = number_of(name, ".ids").has_value();
    if (number_of(name, ".log")) {
      KIN_TRY(const auto log, disk.open_to_read(folder / name));
      KIN_TRY(const std::uint64_t size, log->size());
      // A crash during the creation of a set leaves a log without ids.
      holds_ids = size > kSeenLogHeaderBytes;
    }
    if (!holds_ids) continue;
    return Error{Code::kDataLoss,
                 fmt::format("{} has lost its manifest, but holds ids in {} (restore the "
                             "manifest, or start clean with a fresh set)",
                             folder.string(), name)};
  }
  return Done{};
}

const char* words(IdKind kind) {
  return kind == IdKind::kNumber ? "numbers" : "strings";
}

Result<SeenManifest> read_manifest(const fs::path& folder, Disk& disk) {
  const fs::path path = folder / kManifestName;
  KIN_TRY(const std::string bytes, read_whole(disk, path));
  auto manifest = decode_seen_manifest(bytes);
  return manifest ? manifest : with_context(path.string(), manifest.error());
}

Result<std::set<std::uint64_t>> logs_from(const SeenPlacement& placement, std::uint64_t first) {
  KIN_TRY(const auto names, placement.disk->list(placement.folder));
  std::set<std::uint64_t> numbers;
  for (const std::string& name : names) {
    const auto number = number_of(name, ".log");
    if (number && *number >= first) numbers.insert(*number);
  }
  return numbers;
}

Error log_damage(const SeenPlacement& placement, std::uint64_t number, std::string_view what) {
  return Error{Code::kDataLoss,
               fmt::format("{} {}", log_path(placement.folder, number).string(), what)};
}

void insert_growing(std::shared_ptr<SeenTable>& table, SeenId id) {
  if (table->size() == table->capacity()) table = table->copy(table->slots() * 2);
  table->insert(id);
}

// Nothing may have been written after a log that is not sealed: a crash interrupted the creation of
// its successor.
Status check_unborn(const SeenPlacement& placement, std::uint64_t number, std::uint64_t sequence) {
  const auto contents =
      replay_log(placement, {.number = number, .sequence = sequence}, [](SeenId) {});
  // Not even its header is whole.
  if (!contents && contents.error().code == Code::kNotFound) return Done{};
  if (contents && contents->ids == 0 && !contents->sealed) return Done{};
  return log_damage(placement, number - 1,
                    "is damaged: its end is missing, and a later log exists");
}

// Turns a log into a run that a crash prevented.
Status write_out(const SeenPlacement& placement, SeenRuns& runs, RecoveredLogs& recovered,
                 const LogPosition& next) {
  // A run cannot be empty.
  if (recovered.table->size() == 0) return runs.note_log(next);
  std::vector<SeenId> ids = recovered.table->ids();
  std::sort(ids.begin(), ids.end());
  KIN_RETURN_IF_ERROR(runs.add_run(ids, next));
  recovered.table = std::make_shared<SeenTable>(placement.kind, SeenTable::slots_for(0));
  return Done{};
}

}  // namespace

Result<SeenManifest> find_or_make_manifest(const fs::path& folder, const SeenOptions& options) {
  Disk& disk = *options.disk;
  if (options.mode == SeenOptions::Mode::kFresh) return make_manifest(folder, options);
  KIN_TRY(const bool there, disk.exists(folder / kManifestName));
  if (!there) {
    KIN_RETURN_IF_ERROR(check_nothing_lost(folder, disk));
    if (options.mode == SeenOptions::Mode::kOpenOrMake) return make_manifest(folder, options);
    return Error{
        Code::kNotFound,
        fmt::format("there is no seen set at {} (kindred seen add makes one)", folder.string())};
  }
  KIN_TRY(SeenManifest manifest, read_manifest(folder, disk));
  if (manifest.kind == kPairs) {
    return Error{Code::kFailedPrecondition,
                 fmt::format("{} holds the keys of a fingerprint store, not a seen set (name "
                             "another folder)",
                             folder.string())};
  }
  if (options.kind && *options.kind != manifest.kind) {
    return Error{Code::kFailedPrecondition,
                 fmt::format("{} is a set of {}, not of {}", folder.string(), words(manifest.kind),
                             words(*options.kind))};
  }
  return manifest;
}

Status remove_leftovers(const SeenPlacement& placement, const SeenManifest& manifest) {
  const std::set<std::uint64_t> live = piece_numbers(manifest);
  KIN_TRY(const auto names, placement.disk->list(placement.folder));
  for (const std::string& name : names) {
    const auto log = number_of(name, ".log");
    const auto piece = piece_of(name);
    const bool leftover = (log && *log < manifest.first_log) || (piece && !live.contains(*piece)) ||
                          is_temporary(name);
    // Errors are harmless: nothing refers to the file.
    if (leftover) (void)placement.disk->remove(placement.folder / name);  // or next time
  }
  return Done{};
}

Result<RecoveredLogs> recover_logs(const SeenPlacement& placement, SeenRuns& runs, bool read_only) {
  // A copy: write_out() changes the manifest of `runs`.
  const SeenManifest manifest = runs.manifest();
  KIN_TRY(const auto logs, logs_from(placement, manifest.first_log));
  RecoveredLogs recovered;
  recovered.table = std::make_shared<SeenTable>(placement.kind, SeenTable::slots_for(0));
  std::uint64_t sequence = ids_in_runs(manifest);
  // All logs but the last are sealed. The number of each one's first id follows those of the runs
  // and logs before it, which reveals a missing log.
  for (std::uint64_t number = manifest.first_log;; ++number) {
    if (!logs.contains(number)) return log_damage(placement, number, "is gone");
    const SeenLogExpectation expected{number, sequence,
                                      number == manifest.durable_log ? manifest.durable_bytes : 0};
    const auto contents =
        replay_log(placement, expected, [&](SeenId id) { insert_growing(recovered.table, id); });
    if (!contents) {
      const auto& [code, message] = contents.error();
      return Error{code == Code::kNotFound ? Code::kDataLoss : code, message};
    }
    sequence += contents->ids;
    if (!contents->sealed) {
      if (logs.contains(number + 1)) {
        KIN_RETURN_IF_ERROR(check_unborn(placement, number + 1, sequence));
      }
      recovered.log_bytes = contents->length;
      // A reader must not change files that a writer may have open.
      if (read_only) return recovered;
      KIN_TRY(recovered.log, SeenLogWriter::reopen(placement, expected, *contents));
      return recovered;
    }
    // Sealed logs stay in the reader's table.
    if (read_only) continue;
    // The durable position may be in a log that is still to come.
    const bool later = manifest.durable_log > number;
    KIN_RETURN_IF_ERROR(write_out(placement, runs, recovered,
                                  {number + 1, later ? manifest.durable_log : number + 1,
                                   later ? manifest.durable_bytes : 0}));
    (void)placement.disk->remove(log_path(placement.folder, number));  // or next time
  }
}

}  // namespace kin::store
