// Credentials from the services that clouds offer to the machines they run.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cloud/cloud_options.h"

namespace kin::cloud {

// The answer of a metadata service. kUnavailable if it says that it failed. Thread-safe.
Result<AwsCredentials> parse_metadata_answer(std::string_view json);

// Of the container that this process runs in. Nothing if the environment names no endpoint.
// An endpoint without TLS must be on this machine or be one of the cloud's own. Thread-safe.
Result<std::optional<AwsCredentials>> container_credentials(const CredentialOptions& options);

// Of the machine's role, by version 2 of the instance metadata service. Thread-safe.
Result<AwsCredentials> instance_credentials(const CredentialOptions& options);

}  // namespace kin::cloud
