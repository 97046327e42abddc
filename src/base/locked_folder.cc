#include "base/locked_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

namespace kin {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kPattern = ".kindred-XXXXXX";
constexpr std::string_view kLockExtension = ".lock";

bool is_lock_name(std::string_view name) {
  return name.size() == kPattern.size() + kLockExtension.size() &&
         name.starts_with(kPattern.substr(0, kPattern.find('X'))) && name.ends_with(kLockExtension);
}

fs::path lock_of(const fs::path& folder) {
  return folder.string() + std::string(kLockExtension);
}

}  // namespace

Result<std::vector<fs::path>> make_missing_folders(const fs::path& folder) {
  std::vector<fs::path> made;
  std::error_code failure;
  for (fs::path at = folder; !at.empty() && !fs::exists(at, failure); at = at.parent_path())
    made.push_back(at);
  fs::create_directories(folder, failure);
  if (failure) return system_error("make the folder", folder, failure.value());
  return made;
}

void remove_made_folders(const std::vector<fs::path>& made) {
  std::error_code ignored;  // a folder that is not empty stays
  for (const fs::path& folder : made) fs::remove(folder, ignored);
}

LockedFolder::LockedFolder(fs::path path, File lock, std::vector<fs::path> made)
    : path_(std::move(path)), lock_(std::move(lock)), made_(std::move(made)) {}

LockedFolder::LockedFolder(LockedFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})),
      lock_(std::move(other.lock_)),
      made_(std::move(other.made_)) {}

LockedFolder::~LockedFolder() {
  if (path_.empty()) return;
  std::error_code ignored;  // a destructor cannot report; the next process removes leftovers
  fs::remove_all(path_, ignored);
  fs::remove(lock_of(path_), ignored);
  remove_made_folders(made_);
}

Result<LockedFolder> LockedFolder::create(const std::optional<fs::path>& parent) {
  std::error_code failure;
  fs::path under = parent ? *parent : fs::temp_directory_path(failure);
  if (failure)
    return system_error("use", "the folder for temporary files, TMPDIR", failure.value());
  if (under.empty()) under = ".";
  KIN_TRY(const std::vector<fs::path> made, make_missing_folders(under));
  remove_dead(under);
  for (;;) {
    auto folder = try_create(under, made);
    if (!folder) remove_made_folders(made);
    if (!folder) return folder.error();
    if (*folder) return std::move(**folder);
  }
}

Result<std::optional<LockedFolder>> LockedFolder::try_create(const fs::path& parent,
                                                             const std::vector<fs::path>& made) {
  std::string pattern = (parent / kPattern).string();
  if (::mkdtemp(pattern.data()) == nullptr) return system_error("make a folder in", parent, errno);
  const fs::path path = pattern;
  KIN_TRY(File lock, File::open_to_update(lock_of(path)));
  // Between making the lock and taking it, another process may have found it free.
  std::error_code ignored;
  const bool ours =
      lock.lock().ok() && fs::exists(path, ignored) && fs::exists(lock_of(path), ignored);
  if (!ours) return std::optional<LockedFolder>();
  return std::optional<LockedFolder>(LockedFolder(path, std::move(lock), made));
}

void LockedFolder::remove_dead(const fs::path& parent) {
  std::error_code ignored;  // leftovers are harmless, and the next process tries again
  for (const auto& entry : fs::directory_iterator(parent, ignored)) {
    if (!is_lock_name(entry.path().filename().string())) continue;
    auto lock = File::open_to_update(entry.path());
    if (!lock || !lock->lock().ok()) continue;
    fs::remove_all(entry.path().parent_path() / entry.path().stem(), ignored);
    fs::remove(entry.path(), ignored);
  }
}

}  // namespace kin
