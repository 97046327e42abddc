// Checks of option values.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "app/options.h"

namespace kin::app {

Check whole_number(std::uint64_t least,
                   std::uint64_t most = std::numeric_limits<std::uint64_t>::max());
Check number(double least, double most);
Check one_of(std::vector<std::string> words);

// For an option that has a default: checks its values, and shows the default in the help. Both
// return the option.
Option with_count(Option option, std::uint64_t least,
                  std::uint64_t most = std::numeric_limits<std::uint64_t>::max());
Option with_choice(Option option, std::vector<std::string> words);

}  // namespace kin::app
