// Reads the audit log of a run.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <vector>

#include "base/result.h"
#include "dedup/options.h"

namespace kin::dedup {

// The outcome of a record.
struct Fate {
  std::optional<std::size_t> kept;  // the row that stayed in its place; nothing: it stayed itself
  Method method = Method::kExact;
  double similarity = 0;
};

// The outcomes by row, of a run over `records` records that wrote `log`. Works in `folder`.
Result<std::vector<Fate>> read_fates(const std::filesystem::path& log, std::size_t records,
                                     const std::filesystem::path& folder);

}  // namespace kin::dedup
