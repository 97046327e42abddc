// Prints an answer on a terminal.
#pragma once

#include <optional>
#include <string>

#include "search/answer.h"
#include "search/path.h"

namespace kin::app {

// In colours if standard output is a terminal and NO_COLOR is not set. `offset` is the number of
// hits that were skipped.
std::string to_words(const search::Answer& answer, std::size_t offset);

// One line per document, with the link that joins it to the next between them.
std::string path_to_words(const std::optional<search::Path>& path,
                          const search::PathQuestion& question);

}  // namespace kin::app
