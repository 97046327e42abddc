// The credentials of this process, found once and kept fresh.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "cloud/cloud_options.h"

namespace kin::cloud {

// Thread-safe. Borrows the clock.
class CredentialChain {
 public:
  // Temporary credentials are replaced this long before they expire.
  static constexpr std::chrono::minutes kRefreshBefore{5};
  // After a failed refresh, the next try is this much later, while the old ones are valid.
  static constexpr std::chrono::seconds kPause{10};

  CredentialChain(CredentialOptions options, Clock& clock);

  // Valid credentials. Blocks while they are fetched. If fetching fails, the old ones are used
  // until they expire. kFailedPrecondition if no source has any; the message names all sources.
  Result<AwsCredentials> get();

 private:
  Result<AwsCredentials> find() const;
  Result<std::optional<AwsCredentials>> from_environment() const;
  Result<std::optional<AwsCredentials>> from_profile() const;

  const CredentialOptions options_;
  Clock& clock_;
  std::mutex mutex_;
  std::optional<AwsCredentials> current_;
  std::optional<SteadyTime> not_before_;  // of the next refresh
};

}  // namespace kin::cloud
