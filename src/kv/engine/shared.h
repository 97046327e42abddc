// Helpers that both engines use.
#pragma once

#include <atomic>
#include <filesystem>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/disk.h"
#include "base/result.h"
#include "kv/store_options.h"

namespace kin::kv {

// Refuses changes after one has failed, because the state of the device is unknown until the store
// is opened again. Thread-safe.
class FailureLatch {
 public:
  // An error that names the first failure, if there was one.
  Status check(const std::filesystem::path& folder) const;
  // Remembers the failure of a change; returns `status`.
  Status note(Status status);
  // Runs `act`, a change, unless one has failed, and remembers its failure.
  template <typename Act>
  Status guard(const std::filesystem::path& folder, const Act& act) {
    KIN_RETURN_IF_ERROR(check(folder));
    return note(act());
  }

 private:
  std::atomic<bool> failed_ = false;  // so that a check without a failure takes no lock
  mutable std::mutex mutex_;
  std::optional<Error> first_;
};

// The name of the main family in files.
inline constexpr const char* kMainName = "default";

// The main family, those asked for, and all others that are `present` in the store.
std::vector<std::string> family_names(const StoreOptions& options,
                                      std::span<const std::string> present);

// The error for a store that is locked.
Error open_elsewhere(const std::filesystem::path& folder);

// Makes `folder` for a checkpoint, or checks that it is empty.
Status prepare_copy(Disk& disk, const std::filesystem::path& folder);

inline Disk& disk_of(const StoreOptions& options) {
  return options.disk != nullptr ? *options.disk : system_disk();
}
inline Clock& clock_of(const StoreOptions& options) {
  return options.clock != nullptr ? *options.clock : system_clock();
}

}  // namespace kin::kv
