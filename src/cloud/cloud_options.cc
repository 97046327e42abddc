#include "cloud/cloud_options.h"

#include <cstdlib>

#include "base/file.h"
#include "cloud/credentials/profile_file.h"

namespace kin::cloud {

std::optional<std::string> process_environment(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::string profile_setting(const Environment& environment, const std::string& setting) {
  const std::string chosen = environment("AWS_PROFILE").value_or("");
  for (const auto& [variable, file] :
       {std::pair{"AWS_CONFIG_FILE", "config"}, {"AWS_SHARED_CREDENTIALS_FILE", "credentials"}}) {
    const auto path = profile_file(environment, variable, file);
    const auto text = path.empty() ? Result<std::string>(std::string()) : read_file(path);
    if (!text) continue;  // most machines have no such file
    const auto profiles = parse_profiles(*text);
    const auto profile = profiles.find(chosen.empty() ? "default" : chosen);
    if (profile == profiles.end()) continue;
    const auto found = profile->second.find(setting);
    if (found != profile->second.end()) return found->second;
  }
  return "";
}

CloudOptions options_of_environment(const std::string& service, const Environment& environment) {
  const auto first = [&](std::initializer_list<std::string> names) -> std::string {
    for (const std::string& name : names) {
      if (const auto value = environment(name); value && !value->empty()) return *value;
    }
    return "";
  };
  CloudOptions options;
  options.credentials.environment = environment;
  std::string region = first({"AWS_REGION", "AWS_DEFAULT_REGION"});
  if (region.empty()) region = profile_setting(environment, "region");
  if (!region.empty()) options.region = region;
  options.endpoint = first({"AWS_ENDPOINT_URL_" + service, "AWS_ENDPOINT_URL"});
  return options;
}

}  // namespace kin::cloud
