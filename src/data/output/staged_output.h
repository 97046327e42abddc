// An output that is complete but not yet visible under its name.
#pragma once

#include <filesystem>

#include "base/result.h"

namespace kin::data {

// Written under a temporary name beside its target, or, for standard output, in a temporary
// folder. Destroyed without commit(), it leaves nothing behind. Thread-compatible.
class StagedOutput {
 public:
  // Creates no file yet. `target` may be "-".
  StagedOutput(std::filesystem::path target, const std::filesystem::path& temporary_folder);
  StagedOutput(StagedOutput&& other) noexcept;
  StagedOutput& operator=(StagedOutput&&) = delete;
  ~StagedOutput();

  // Where to write.
  const std::filesystem::path& path() const { return temporary_; }
  const std::filesystem::path& target() const { return target_; }

  // Makes the written bytes durable. commit() does so too; an earlier call makes it faster.
  Status sync();
  // Renames to the target, or copies to standard output.
  Status commit();

 private:
  std::filesystem::path target_;
  std::filesystem::path temporary_;
  bool synced_ = false;
};

}  // namespace kin::data
