// Where the program keeps what it remembers between runs.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace kin::app {

// `given` (--data) if it is not empty, else $KINDRED_DATA, else $XDG_DATA_HOME/kindred, else
// ~/.local/share/kindred. An error if none of these is there.
Result<std::filesystem::path> data_folder(const std::string& given);

}  // namespace kin::app
