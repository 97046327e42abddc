#include "kv/engine/engine.h"

#include <fmt/format.h>

namespace kin::kv {

Status prepare_copy(Disk& disk, const std::filesystem::path& folder) {
  KIN_TRY(const bool there, disk.exists(folder));
  if (!there) return disk.make_folder(folder);
  KIN_TRY(const auto names, disk.list(folder));
  if (names.empty()) return Done{};
  return Error{Code::kFailedPrecondition,
               fmt::format("{} is not empty (choose another folder)", folder.string())};
}

}  // namespace kin::kv
