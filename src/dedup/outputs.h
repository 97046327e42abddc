// The output files of a run.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "base/result.h"
#include "data/input.h"
#include "dedup/run.h"
#include "dedup/work_folder.h"

namespace kin::dedup {

// Whether the records go to a file, not to standard output or nowhere.
bool has_output_file(const DedupJob& job);
// Whether the output is a folder that gets one file for each input: it ends with a slash, or exists
// as a folder.
bool writes_folder(const DedupJob& job);
// The output without a slash at its end, from which files beside it get their names.
std::filesystem::path output_name(const DedupJob& job);
// Whether a killed run can be resumed: its records go to a file, and its inputs can be read again.
bool is_resumable(const DedupJob& job);

// The path of the audit log: that of the job, or one beside the output. Nothing if there is none.
std::optional<std::filesystem::path> removed_output_of(const DedupJob& job);
// The path for records that cannot be read and are skipped, in the same way.
std::optional<std::filesystem::path> quarantine_output_of(const DedupJob& job);
// The work folder: beside the output, or where the job says.
WorkFolder::Options work_folder_of(const DedupJob& job);

// The path of the log of cuts, in the same way. Nothing if the job cuts nothing.
std::optional<std::filesystem::path> cut_output_of(const DedupJob& job);

// Checks before the run that every output can be made.
Status check_outputs(const DedupJob& job);
// Removes temporary files of these outputs that killed runs left. The caller holds the lock of the
// work folder.
void remove_leftovers(const DedupJob& job);
// Checks that no output is an input.
Status check_outputs_against(const DedupJob& job, const std::vector<data::Input>& inputs);

}  // namespace kin::dedup
