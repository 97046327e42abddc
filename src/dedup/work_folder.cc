#include "dedup/work_folder.h"

#include <fmt/format.h>

#include <string_view>
#include <thread>

#include "base/hash.h"

namespace kin::dedup {
namespace fs = std::filesystem;
namespace {

constexpr const char* kLockName = "lock";
constexpr const char* kExtension = ".kindred";
// Parent folders that the first run had to make, one per line: a later run removes them.
constexpr const char* kMadeName = "made";

std::vector<fs::path> read_made(std::string_view lines) {
  std::vector<fs::path> made;
  for (std::size_t begin = 0; begin < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', begin), lines.size());
    made.emplace_back(lines.substr(begin, end - begin));
    begin = end + 1;
  }
  return made;
}

Status remember(const fs::path& folder, std::vector<fs::path>& made) {
  std::error_code ignored;  // no such file: no folder was made
  if (made.empty() && fs::exists(folder / kMadeName, ignored)) {
    KIN_TRY(const std::string lines, read_file(folder / kMadeName));
    made = read_made(lines);
    return Done{};
  }
  if (made.empty()) return Done{};
  std::string lines;
  for (const fs::path& one : made) lines += one.string() + "\n";
  return write_file_atomically(folder / kMadeName, lines);
}

// Removes everything in the folder but the lock.
Status empty_folder(const fs::path& folder) {
  std::error_code failure;
  fs::remove(folder / kCheckpointName, failure);
  for (const auto& entry : fs::directory_iterator(folder, failure)) {
    if (entry.path().filename() == kLockName || entry.path().filename() == kMadeName) continue;
    fs::remove_all(entry.path(), failure);
    if (failure) return system_error("remove", entry.path(), failure.value());
  }
  return Done{};
}

bool is_work_folder(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with('.') && name.ends_with(kExtension);
}

// Removes work folders in `parent` of other outputs whose runs are dead and left no checkpoint.
void remove_dead_folders(const fs::path& parent, const fs::path& own) {
  std::error_code ignored;  // leftovers are harmless, and the next run tries again
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(parent, ignored)) {
    if (entry.path() != own && is_work_folder(entry.path())) found.push_back(entry.path());
  }
  for (const fs::path& folder : found) {
    if (!fs::exists(folder / kLockName, ignored) || fs::exists(folder / kCheckpointName, ignored))
      continue;
    auto lock = File::open_to_update(folder / kLockName);
    if (!lock || !lock->lock().ok()) continue;
    const auto made = read_file(folder / kMadeName);
    // Renamed first, because a run that starts now makes the folder again.
    const fs::path dead = folder.string() + ".dead";
    fs::rename(folder, dead, ignored);
    fs::remove_all(dead, ignored);
    if (made) remove_made_folders(read_made(*made));
  }
}

// Makes the folder and locks it. Until it is locked, another run may take it for a dead one.
Result<File> make_locked(const fs::path& path, std::vector<fs::path>& made) {
  constexpr int kTries = 100;
  for (int attempt = 1;; ++attempt) {
    KIN_TRY(std::vector<fs::path> missing, make_missing_folders(path));
    if (made.empty()) made = std::move(missing);
    auto lock = File::open_to_update(path / kLockName);
    const Status locked = lock ? lock->lock() : Status(lock.error());
    std::error_code ignored;
    if (locked.ok() && fs::exists(path / kLockName, ignored)) return std::move(*lock);
    if (!locked.ok() && attempt == kTries) return locked.error();
    std::this_thread::yield();
  }
}

}  // namespace

WorkFolder::WorkFolder(LockedFolder temporary)
    : path_(temporary.path()), temporary_(std::move(temporary)) {}

WorkFolder::WorkFolder(fs::path path, File lock, std::vector<fs::path> made)
    : path_(std::move(path)), lock_(std::move(lock)), made_(std::move(made)) {}

WorkFolder::WorkFolder(WorkFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})),
      lock_(std::move(other.lock_)),
      made_(std::move(other.made_)),
      temporary_(std::move(other.temporary_)),
      resumable_(other.resumable_) {}

WorkFolder::~WorkFolder() {
  if (path_.empty() || temporary_ || resumable_) return;
  std::error_code ignored;  // a folder left behind harms nobody, and a destructor cannot report
  fs::remove(path_ / kCheckpointName, ignored);
  fs::remove_all(path_, ignored);
  remove_made_folders(made_);
}

// Beside the output by its name; elsewhere by its whole path, because outputs may have equal names.
fs::path WorkFolder::path_of(const Options& options) {
  const fs::path& output = *options.output;
  const std::string name = output.filename().string();
  if (options.parent) {
    std::error_code failure;
    const fs::path whole = fs::absolute(output, failure).lexically_normal();
    return *options.parent / fmt::format(".{}.{:016x}.kindred", name, hash64(whole.string()));
  }
  const fs::path parent = output.has_parent_path() ? output.parent_path() : fs::path(".");
  return parent / fmt::format(".{}.kindred", name);
}

Result<WorkFolder> WorkFolder::open(const Options& options) {
  if (!options.output) {
    KIN_TRY(LockedFolder temporary, LockedFolder::create(options.parent));
    return WorkFolder(std::move(temporary));
  }
  const fs::path path = path_of(options);
  std::vector<fs::path> made;
  auto lock = make_locked(path, made);
  if (!lock && lock.error().code == Code::kFailedPrecondition) {
    return Error{lock.error().code,
                 fmt::format("another run is writing {} (wait for it, or choose another "
                             "output)",
                             options.output->string())};
  }
  if (!lock) return lock.error();
  // The first one is the work folder itself, which is handled separately.
  if (!made.empty()) made.erase(made.begin());
  LockedFolder::remove_dead(path.parent_path());
  remove_dead_folders(path.parent_path(), path);
  KIN_RETURN_IF_ERROR(remember(path, made));
  std::error_code failure;
  const bool resumable = options.resume && fs::exists(path / kCheckpointName, failure);
  WorkFolder folder(path, std::move(*lock), std::move(made));
  if (resumable) folder.keep_for_resume();
  if (!options.resume) KIN_RETURN_IF_ERROR(empty_folder(path));
  return folder;
}

}  // namespace kin::dedup
