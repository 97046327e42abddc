// The folder a run works in: beside its output, where a resumed run finds it again.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "base/file.h"
#include "base/locked_folder.h"
#include "base/result.h"

namespace kin::dedup {

// The file in a work folder that holds the state of its run. It is removed before all others, so
// that it never refers to missing files.
inline constexpr const char* kCheckpointName = "checkpoint";

// Made by open(), locked while open, and removed when done() was called or nothing in it is worth
// resuming, together with parent folders that open() had to make. open() also removes folders
// beside it that killed runs left and that cannot be resumed. One thread only.
class WorkFolder {
 public:
  // `output`: the output of the run; nothing if it cannot be resumed. `parent`: where to make the
  // folder, instead of beside the output or, without one, in the system's folder for temporary
  // files. With `resume` the folder of an earlier run is used as it is; otherwise it is emptied
  // first.
  struct Options {
    std::optional<std::filesystem::path> output = {};
    std::optional<std::filesystem::path> parent = {};
    bool resume = false;
  };
  static Result<WorkFolder> open(const Options& options);
  // The path of the folder that open() makes.
  static std::filesystem::path path_of(const Options& options);
  WorkFolder(WorkFolder&& other) noexcept;
  WorkFolder& operator=(WorkFolder&&) = delete;
  ~WorkFolder();

  const std::filesystem::path& path() const { return path_; }
  // A checkpoint exists: an unfinished run leaves the folder for the next one.
  void keep_for_resume() { resumable_ = true; }
  // The run is complete.
  void done() { resumable_ = false; }

 private:
  explicit WorkFolder(LockedFolder temporary);
  WorkFolder(std::filesystem::path path, File lock, std::vector<std::filesystem::path> made);
  std::filesystem::path path_;
  std::optional<File> lock_;
  std::vector<std::filesystem::path> made_;
  std::optional<LockedFolder> temporary_;  // of a run that cannot be resumed
  bool resumable_ = false;
};

}  // namespace kin::dedup
