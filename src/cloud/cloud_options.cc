#include "cloud/cloud_options.h"

#include <cstdlib>

namespace kin::cloud {

std::optional<std::string> process_environment(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

}  // namespace kin::cloud
