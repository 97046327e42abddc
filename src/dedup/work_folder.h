// The folder a run works in: beside its output, found again by a run that resumes.
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
// resuming, together with folders above it that open() had to make. Folders that killed runs left
// beside it and that cannot be resumed are removed by open(). One thread only.
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
  // Where open() puts the folder of an output.
  static std::filesystem::path path_of(const Options& options);
  WorkFolder(WorkFolder&& other) noexcept;
  WorkFolder& operator=(WorkFolder&&) = delete;
  ~WorkFolder();

  const std::filesystem::path& path() const { return path_; }
  // There is a checkpoint now: an unfinished run leaves the folder for the next.
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
