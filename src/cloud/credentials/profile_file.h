// The profile files of AWS's tools: ~/.aws/credentials and ~/.aws/config.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "cloud/cloud_options.h"

namespace kin::cloud {

// Settings of a profile by name.
using Profile = std::map<std::string, std::string>;

// Profiles by name. Sections are "[name]" or, as in ~/.aws/config, "[profile name]". Lines are
// "name = value"; '#' and ';' begin a comment at the start of a line or after a space. Nested
// settings (indented lines) and other lines are ignored. Thread-safe.
std::map<std::string, Profile> parse_profiles(std::string_view text);

// The file that `variable` names, or `name` in the folder of AWS's tools; empty if there is none.
std::filesystem::path profile_file(const Environment& environment, const std::string& variable,
                                   const std::string& name);

}  // namespace kin::cloud
