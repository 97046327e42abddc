// Checks of option values, for CLI::Option::check(). A check returns an empty string if the value
// is valid, else a message that follows the option's name.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace CLI {
class Option;
}  // namespace CLI

namespace kin::app {

using Check = std::function<std::string(const std::string&)>;

Check whole_number(std::uint64_t least,
                   std::uint64_t most = std::numeric_limits<std::uint64_t>::max());
Check number(double least, double most);
Check one_of(std::vector<std::string> words);

// For an option that has a default: checks its values, and shows the default in the help. Both
// return the option.
CLI::Option* with_count(CLI::Option* option, std::uint64_t least,
                        std::uint64_t most = std::numeric_limits<std::uint64_t>::max());
CLI::Option* with_choice(CLI::Option* option, std::vector<std::string> words);

}  // namespace kin::app
