// Divides spooled records into files that DuckDB reads one after another.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "base/result.h"

namespace kin::data {

// Cuts `file`, whose lines are records, into pieces of at least `piece_bytes` that end with a
// record; the last may be smaller. Returns them in order. `file` stays as the first of them, and
// the others lie beside it. The disk holds the bytes of one piece twice.
Result<std::vector<std::filesystem::path>> cut_into_pieces(const std::filesystem::path& file,
                                                           std::uint64_t piece_bytes);

}  // namespace kin::data
