// Where a run's results go.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "base/result.h"
#include "data/input.h"
#include "dedup/run.h"

namespace kin::dedup {

// Whether the records go to a file: not to standard output, and not nowhere.
bool has_output_file(const DedupJob& job);
// Whether a killed run can go on: its records go to a file, and its inputs can be read again.
bool is_resumable(const DedupJob& job);

// The audit log: where the job says, or beside the output. Nothing if there is to be none.
std::optional<std::filesystem::path> removed_output_of(const DedupJob& job);

// Every output can be made: found out before the work, not after it.
Status check_outputs(const DedupJob& job);
// Removes what killed runs left of these outputs under other names. For whoever holds the lock of
// the work folder.
void remove_leftovers(const DedupJob& job);
// No output is an input.
Status check_outputs_against(const DedupJob& job, const std::vector<data::Input>& inputs);

}  // namespace kin::dedup
