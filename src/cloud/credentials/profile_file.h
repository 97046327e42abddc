// The profile files of AWS's tools: ~/.aws/credentials and ~/.aws/config.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace kin::cloud {

// Settings of a profile by name.
using Profile = std::map<std::string, std::string>;

// Profiles by name. Sections are "[name]" or, as in ~/.aws/config, "[profile name]". Lines are
// "name = value"; '#' and ';' begin a comment at the start of a line or after a space. Nested
// settings (indented lines) and lines that are none of these are ignored. Thread-safe.
std::map<std::string, Profile> parse_profiles(std::string_view text);

}  // namespace kin::cloud
