#include "cloud/credentials/chain.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/file.h"
#include "cloud/credentials/metadata.h"
#include "cloud/credentials/profile_file.h"

namespace kin::cloud {
namespace {

std::string value_of(const Profile& profile, const std::string& name) {
  const auto found = profile.find(name);
  return found == profile.end() ? "" : found->second;
}

}  // namespace

CredentialChain::CredentialChain(CredentialOptions options, Clock& clock)
    : options_(std::move(options)), clock_(clock) {}

Result<AwsCredentials> CredentialChain::get() {
  const std::lock_guard lock(mutex_);
  const WallTime now = clock_.now();
  const bool holds = current_ && (!current_->expires || now < *current_->expires);
  const bool fresh = holds && (!current_->expires || now < *current_->expires - kRefreshBefore);
  if (fresh) return *current_;
  const bool paused = not_before_ && clock_.steady_now() < *not_before_;
  if (holds && paused) return *current_;
  auto found = find();
  if (found) {
    current_ = *found;
    not_before_.reset();
    return found;
  }
  // The old ones are used until they expire.
  not_before_ = clock_.steady_now() + kPause;
  if (holds) return *current_;
  return found;
}

Result<AwsCredentials> CredentialChain::find() const {
  if (options_.fixed) return *options_.fixed;
  KIN_TRY(auto found, from_environment());
  if (found) return std::move(*found);
  KIN_TRY(found, from_profile());
  if (found) return std::move(*found);
  KIN_TRY(found, container_credentials(options_));
  if (found) return std::move(*found);
  std::string why = "AWS_EC2_METADATA_DISABLED is set";
  if (options_.environment("AWS_EC2_METADATA_DISABLED").value_or("") != "true") {
    auto of_instance = instance_credentials(options_);
    if (of_instance) return of_instance;
    why = of_instance.error().message;
  }
  return Error{Code::kFailedPrecondition,
               fmt::format("no AWS credentials found: set AWS_ACCESS_KEY_ID and "
                           "AWS_SECRET_ACCESS_KEY, or put them into ~/.aws/credentials, or run "
                           "with a role (instance metadata: {})",
                           why)};
}

Result<std::optional<AwsCredentials>> CredentialChain::from_environment() const {
  const auto value = [&](const char* name) { return options_.environment(name).value_or(""); };
  AwsCredentials found{.access_key = value("AWS_ACCESS_KEY_ID"),
                       .secret_key = value("AWS_SECRET_ACCESS_KEY"),
                       .session_token = value("AWS_SESSION_TOKEN")};
  // A named profile has priority over the environment, as in AWS's own tools.
  if (!options_.profile.empty() || found.access_key.empty()) return std::optional<AwsCredentials>();
  if (found.secret_key.empty())
    return Error{Code::kFailedPrecondition,
                 "AWS_ACCESS_KEY_ID is set and AWS_SECRET_ACCESS_KEY is not"};
  return std::optional(std::move(found));
}

Result<std::optional<AwsCredentials>> CredentialChain::from_profile() const {
  const std::string chosen = !options_.profile.empty()
                                 ? options_.profile
                                 : options_.environment("AWS_PROFILE").value_or("");
  const std::string name = chosen.empty() ? "default" : chosen;
  bool exists = false;
  for (const auto& [variable, file] :
       {std::pair{"AWS_SHARED_CREDENTIALS_FILE", "credentials"}, {"AWS_CONFIG_FILE", "config"}}) {
    const auto path = profile_file(options_.environment, variable, file);
    if (path.empty()) continue;
    KIN_TRY(const bool there, file_exists(path));
    if (!there) continue;
    KIN_TRY(const std::string text, read_file(path));
    const auto profiles = parse_profiles(text);
    const auto profile = profiles.find(name);
    if (profile == profiles.end()) continue;
    exists = true;
    AwsCredentials found{.access_key = value_of(profile->second, "aws_access_key_id"),
                         .secret_key = value_of(profile->second, "aws_secret_access_key"),
                         .session_token = value_of(profile->second, "aws_session_token")};
    if (!found.access_key.empty() && !found.secret_key.empty())
      return std::optional(std::move(found));
  }
  if (chosen.empty()) return std::optional<AwsCredentials>();
  return Error{Code::kFailedPrecondition,
               exists ? fmt::format("the AWS profile \"{}\" has no aws_access_key_id and "
                                    "aws_secret_access_key",
                                    name)
                      : fmt::format("there is no AWS profile \"{}\" in ~/.aws/credentials or "
                                    "~/.aws/config",
                                    name)};
}

}  // namespace kin::cloud
