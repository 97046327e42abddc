// Writes JSONL files.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>

#include "base/json_writer.h"
#include "base/result.h"

namespace kin::dedup {

// Writes `count` lines to `path`; fill(i, json) writes the fields of line i.
Status write_json_lines(const std::filesystem::path& path, std::size_t count,
                        const std::function<void(std::size_t, JsonWriter&)>& fill);

}  // namespace kin::dedup
