// Opens the folder of a seen set: finds or makes its manifest, and recovers its logs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/result.h"
#include "store/seen/log.h"
#include "store/seen/runs.h"
#include "store/seen/table.h"
#include "store/seen_set.h"

namespace kin::store {

// The file that the writer locks while it has the set open.
inline constexpr std::string_view kLockName = "lock";

// The manifest in `folder`, or a new one where `options.mode` allows it. kNotFound if there is no
// set; kFailedPrecondition if the folder holds other things, or ids of another kind.
Result<SeenManifest> find_or_make_manifest(const std::filesystem::path& folder,
                                           const SeenOptions& options);

// Removes files of the set that the manifest does not name, left by a crash or a merge.
Status remove_leftovers(const SeenPlacement& placement, const SeenManifest& manifest);

// The ids that no run holds yet.
struct RecoveredLogs {
  std::shared_ptr<SeenTable> table;
  std::optional<SeenLogWriter> log;  // nothing when opened to read
  std::uint64_t log_bytes = 0;       // of the valid part of the last log
};

// Reads the logs. A writer turns full logs into runs and continues the last one. A reader loads all
// ids into the table and changes nothing.
Result<RecoveredLogs> recover_logs(const SeenPlacement& placement, SeenRuns& runs, bool read_only);

}  // namespace kin::store
