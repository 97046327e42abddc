// An answer on a terminal.
#pragma once

#include <string>

#include "search/answer.h"

namespace kin::app {

// In colours if standard output is a terminal and NO_COLOR is not set.
std::string to_words(const search::Answer& answer);

}  // namespace kin::app
