// Recall of vector searches over several shards against that of one.
#pragma once

#include <filesystem>

#include "bench/nodes/same.h"

namespace kin::bench {

// Shards of this process, in an empty folder.
Result<SameFigures::Vectors> compare_vectors(const SameBench& bench,
                                             const std::filesystem::path& folder);

}  // namespace kin::bench
