// Credentials, endpoint and retries for cloud services. One type for all clients.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "cloud/call_counts.h"

namespace kin::cloud {

// Keys that requests are signed with. Never logged and never part of a message.
struct AwsCredentials {
  std::string access_key;
  std::string secret_key;
  std::string session_token = {};        // of temporary keys
  std::optional<WallTime> expires = {};  // nothing: never
  friend bool operator==(const AwsCredentials&, const AwsCredentials&) = default;
};

// The value of an environment variable; nothing if it is not set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;
// The environment of the process. Thread-safe as long as nobody changes it.
std::optional<std::string> process_environment(const std::string& name);

// The value of `setting` in the profile that AWS_PROFILE names, of AWS's settings files; empty if
// there is none.
std::string profile_setting(const Environment& environment, const std::string& setting);

// The sources of credentials. The first that has any is used: `fixed`; the environment
// (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN); the profile file; the container's
// endpoint (AWS_CONTAINER_CREDENTIALS_FULL_URI or _RELATIVE_URI); the instance's metadata service
// (version 2), unless AWS_EC2_METADATA_DISABLED is true.
struct CredentialOptions {
  std::optional<AwsCredentials> fixed = {};
  // A profile of ~/.aws/credentials and ~/.aws/config (AWS_SHARED_CREDENTIALS_FILE,
  // AWS_CONFIG_FILE). Empty: AWS_PROFILE, else "default". A named profile must exist.
  std::string profile = {};
  Environment environment = &process_environment;
  std::string instance_url = "http://169.254.169.254";  // of the metadata service
  std::string container_url = "http://169.254.170.2";   // base of a relative URI
};

// When a request is sent again. The wait before try n is random, from 0 to base × 2ⁿ⁻¹ or `longest`
// ("full jitter"), so that workers that failed together do not retry together.
struct RetryOptions {
  int tries = 10;  // of one request, the first included
  std::chrono::milliseconds base{50};
  std::chrono::milliseconds longest{20'000};
  std::chrono::milliseconds deadline{120'000};  // of one request, with all its tries and waits
  // Limit of outstanding retries, over all requests of a client. Each retry takes one and each
  // success gives one back, so that a failing service does not get many times the usual
  // requests.
  int budget = 100;
};

struct CloudOptions {
  CredentialOptions credentials = {};
  std::string region = "us-east-1";
  // "http://localhost:8000"; empty: AWS's own for the service and region.
  std::string endpoint = {};
  RetryOptions retry = {};
  int in_flight = 64;                         // most requests at once
  std::chrono::milliseconds one_try{30'000};  // most time of one try
  std::string ca_file = {};                   // certificates to trust instead of the system's
  std::shared_ptr<CallMeter> meter = {};      // for several clients; nothing: each has its own
};

// The options of a service ("S3", "DYNAMODB") as AWS's own tools find them: the region of
// AWS_REGION, AWS_DEFAULT_REGION or the profile, the endpoint of AWS_ENDPOINT_URL_SERVICE or
// AWS_ENDPOINT_URL.
CloudOptions options_of_environment(const std::string& service,
                                    const Environment& environment = &process_environment);

}  // namespace kin::cloud
