// A temporary folder that no killed process leaves behind for good.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace kin {

// Makes `folder` and the folders above it that are missing. Returns those it made, the deepest
// first.
Result<std::vector<std::filesystem::path>> make_missing_folders(
    const std::filesystem::path& folder);
// Removes those folders of make_missing_folders() that are empty.
void remove_made_folders(const std::vector<std::filesystem::path>& made);

// A new folder, removed with everything in it when the object is destroyed. A lock file beside it
// shows that its process is alive: create() removes sibling folders whose lock is free. One thread
// only.
class LockedFolder {
 public:
  // Under `parent`, or under the system's folder for temporary files. A missing `parent` is made,
  // and removed again at the end.
  static Result<LockedFolder> create(const std::optional<std::filesystem::path>& parent = {});
  LockedFolder(LockedFolder&& other) noexcept;
  LockedFolder& operator=(LockedFolder&&) = delete;
  ~LockedFolder();

  const std::filesystem::path& path() const { return path_; }

  // Removes the folders in `parent` that killed processes left.
  static void remove_dead(const std::filesystem::path& parent);

 private:
  LockedFolder(std::filesystem::path path, File lock, std::vector<std::filesystem::path> made);
  // Nothing if another process took the new folder for a dead one.
  static Result<std::optional<LockedFolder>> try_create(
      const std::filesystem::path& parent, const std::vector<std::filesystem::path>& made);

  std::filesystem::path path_;
  std::optional<File> lock_;
  std::vector<std::filesystem::path> made_;
};

}  // namespace kin
