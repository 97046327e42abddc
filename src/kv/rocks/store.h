// A store kept by RocksDB.
#pragma once

#include "kv/engine/engine.h"

namespace kin::kv {

// Exists wherever there is a store of this engine.
inline constexpr const char* kRocksFile = "CURRENT";

Result<std::unique_ptr<Engine>> open_rocks(const std::filesystem::path& folder,
                                           const StoreOptions& options);
Result<std::optional<std::string>> read_rocks_value(const std::filesystem::path& folder,
                                                    std::string_view key,
                                                    const StoreOptions& options);

}  // namespace kin::kv
