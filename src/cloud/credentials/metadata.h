// Credentials from the metadata services of clouds.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cloud/cloud_options.h"

namespace kin::cloud {

// Parses the answer of a metadata service. kUnavailable if it reports a failure. Thread-safe.
Result<AwsCredentials> parse_metadata_answer(std::string_view json);

// Credentials of the container of this process. Nothing if the environment names no endpoint. An
// endpoint without TLS must be on this machine or be one of the cloud's own. Thread-safe.
Result<std::optional<AwsCredentials>> container_credentials(const CredentialOptions& options);

// Credentials of the machine's role, by version 2 of the instance metadata service. Thread-safe.
Result<AwsCredentials> instance_credentials(const CredentialOptions& options);

}  // namespace kin::cloud
