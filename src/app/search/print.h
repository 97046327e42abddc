// An answer on a terminal.
#pragma once

#include <optional>
#include <string>

#include "search/answer.h"
#include "search/path.h"

namespace kin::app {

// In colours if standard output is a terminal and NO_COLOR is not set. `offset` is the number of
// hits that were skipped.
std::string to_words(const search::Answer& answer, std::size_t offset);

// A line for each document, and between them the link that joins them.
std::string path_to_words(const std::optional<search::Path>& path,
                          const search::PathQuestion& question);

}  // namespace kin::app
