#include "kv/engine/shared.h"

#include <fmt/format.h>

#include <algorithm>

namespace kin::kv {

Status FailureLatch::check(const std::filesystem::path& folder) const {
  // The usual case takes no lock.
  if (!failed_) return Done{};
  const std::lock_guard lock(mutex_);
  return Error{first_->code,
               fmt::format("{} refuses writes since an earlier failure (open it again): {}",
                           folder.string(), first_->message)};
}

Status FailureLatch::note(Status status) {
  if (status.ok()) return status;
  const std::lock_guard lock(mutex_);
  if (!first_) first_ = status.error();
  failed_ = true;  // after first_, which check() reads once this is set
  return status;
}

std::vector<std::string> family_names(const StoreOptions& options,
                                      std::span<const std::string> present) {
  std::vector<std::string> names{kMainName};
  // Families that are asked for have fixed numbers, so those that are only present come last.
  names.insert(names.end(), options.families.begin(), options.families.end());
  for (const std::string& name : present) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

Error open_elsewhere(const std::filesystem::path& folder) {
  return {Code::kFailedPrecondition,
          fmt::format("{} is open elsewhere (close it there first)", folder.string())};
}

Status prepare_copy(Disk& disk, const std::filesystem::path& folder) {
  KIN_TRY(const bool there, disk.exists(folder));
  if (!there) return disk.make_folder(folder);
  KIN_TRY(const auto names, disk.list(folder));
  if (names.empty()) return Done{};
  return Error{Code::kFailedPrecondition,
               fmt::format("{} is not empty (choose another folder)", folder.string())};
}

}  // namespace kin::kv
