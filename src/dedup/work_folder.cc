#include "dedup/work_folder.h"

#include <fmt/format.h>

#include "base/hash.h"

namespace kin::dedup {
namespace fs = std::filesystem;
namespace {

constexpr const char* kLockName = "lock";

// Removes everything in the folder but the lock.
Status empty_folder(const fs::path& folder) {
  std::error_code failure;
  fs::remove(folder / kCheckpointName, failure);
  for (const auto& entry : fs::directory_iterator(folder, failure)) {
    if (entry.path().filename() == kLockName) continue;
    fs::remove_all(entry.path(), failure);
    if (failure) return system_error("remove", entry.path(), failure.value());
  }
  return Done{};
}

}  // namespace

WorkFolder::WorkFolder(fs::path path, std::optional<File> lock, bool resumable)
    : path_(std::move(path)), lock_(std::move(lock)), resumable_(resumable) {}

WorkFolder::WorkFolder(WorkFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})),
      lock_(std::move(other.lock_)),
      resumable_(other.resumable_) {}

WorkFolder::~WorkFolder() {
  if (path_.empty() || resumable_) return;
  std::error_code ignored;  // a folder left behind harms nobody, and a destructor cannot report
  fs::remove(path_ / kCheckpointName, ignored);
  fs::remove_all(path_, ignored);
}

// Beside the output by its name; elsewhere by its whole path, since outputs of one name may meet.
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
    std::error_code failure;
    const fs::path parent = options.parent ? *options.parent : fs::temp_directory_path(failure);
    if (failure)
      return system_error("use", "the folder for temporary files, TMPDIR", failure.value());
    std::string pattern = (parent / "kindred-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr)
      return system_error("make a folder in", parent, errno);
    return WorkFolder(fs::path(pattern), std::nullopt, false);
  }
  const fs::path path = path_of(options);
  std::error_code failure;
  fs::create_directories(path, failure);
  if (failure) return system_error("make the folder", path, failure.value());
  KIN_TRY(File lock, File::open_to_update(path / kLockName));
  if (const Status locked = lock.lock(); !locked.ok()) {
    return Error{locked.error().code,
                 fmt::format("another run is writing {} (wait for it, or choose another "
                             "output)",
                             options.output->string())};
  }
  const bool resumable = options.resume && fs::exists(path / kCheckpointName, failure);
  WorkFolder folder(path, std::move(lock), resumable);
  if (!options.resume) KIN_RETURN_IF_ERROR(empty_folder(path));
  return folder;
}

}  // namespace kin::dedup
