// An answer on a terminal.
#pragma once

#include <string>

#include "search/answer.h"

namespace kin::app {

// In colours if standard output is a terminal and NO_COLOR is not set. `offset`: how many hits were
// left out in front.
std::string to_words(const search::Answer& answer, std::size_t offset);

}  // namespace kin::app
