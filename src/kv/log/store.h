// A store with all rows in memory and a log on disk, for simulations and small data.
#pragma once

#include "kv/engine/engine.h"

namespace kin::kv {

// Exists wherever there is a store of this engine.
inline constexpr const char* kLogFile = "rows.log";

// Without threads: the same calls make the same changes to the disk. The log starts with all rows
// as of when it was written, followed by one frame for each batch. When the batches outgrow the
// rows, the log is rewritten under another name and renamed.
Result<std::unique_ptr<Engine>> open_log(const std::filesystem::path& folder,
                                         const StoreOptions& options);
Result<std::optional<std::string>> read_log_value(const std::filesystem::path& folder,
                                                  std::string_view key,
                                                  const StoreOptions& options);

}  // namespace kin::kv
