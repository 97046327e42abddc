// Where the program keeps its data and finds its models.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace kin::app {

// `given` (--data) if it is not empty, else $KINDRED_DATA, else $XDG_DATA_HOME/kindred, else
// ~/.local/share/kindred. kInvalidArgument if none of these is set.
Result<std::filesystem::path> data_folder(const std::string& given);

// Folders that may hold models, in the order in which they are searched: $KINDRED_MODELS, models/
// of the data folder, then relative to the folder of `program` models/ and ../share/kindred/models,
// then kindred/models in /usr/local/share and /usr/share. They need not exist.
std::vector<std::filesystem::path> model_folders(const std::filesystem::path& data,
                                                 const std::filesystem::path& program);

// The value of a variable; empty if it is not set.
std::string environment(const char* name);

// The path of the running program, symbolic links resolved; empty if it is not known.
std::filesystem::path program_path();

}  // namespace kin::app
